export { default } from "cytoscape";
