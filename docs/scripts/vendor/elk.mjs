export { default } from "elkjs/lib/elk-api.js";
