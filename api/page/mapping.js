/**
 * Pictures of a mapping beside the best simple order: tasks by the node they lie on, load of nodes and links, the
 * communication matrix, and how far traffic travels.
 *
 * @import { GraphView, MappingView, Order } from "./types"
 */

import { bars, tellBars } from "./draw/bars.js";
import { IDLE, placeColour } from "./draw/colours.js";
import { Graph } from "./draw/graph.js";
import { arrange } from "./draw/layers.js";
import { matrices, matrixHeight, tellMatrix } from "./draw/matrix.js";
import { Picture } from "./draw/picture.js";
import { formatNumber, formatShare, largest } from "./numbers.js";
import { html, useEffect, useMemo, useState } from "./vendor/preact.js";

/**
 * Show the pictures of a mapping view.
 * @param {{view: MappingView}} props
 */
export function MappingPictures({ view }) {
  const [tasks, setTasks] = useState(view.tasks);
  const [chosen, setChosen] = useState(null);
  useEffect(() => {
    arrange(view.tasks).then(setTasks, () => {});
  }, [view]);
  return html`<section aria-label="Pictures">
    <h2>Where tasks go</h2>
    <div class="pair">${view.orders.map((order, k) => html`<${TaskGraph} view=${view} tasks=${tasks} order=${order} at=${k} chosen=${chosen} onChoose=${setChosen} />`)}</div>
    <h2>What nodes and links carry</h2>
    <div class="pair">${view.orders.map((order, k) => html`<${Loads} view=${view} order=${order} at=${k} chosen=${chosen} />`)}</div>
    <h2>How far traffic travels</h2>
    <${Hops} view=${view} />
    <h2>Who talks to whom</h2>
    <${Matrices} view=${view} />
  </section>`;
}

/**
 * Show the tasks of one order, coloured by the node that each lies on.
 * @param {{view: MappingView, tasks: GraphView, order: Order, at: number, chosen: number | null,
 *   onChoose?: (task: number | null) => void}} props
 */
export function TaskGraph({ view, tasks, order, at, chosen, onChoose }) {
  const nodes = view.topology.names;
  const most = largest(tasks.weight) || 1;
  const look = useMemo(() => {
    const fill = order.places.map((place) => placeOf(place, nodes));
    return { fill, edge: { width: tasks.weight.map((weight) => 0.8 + 2 * Math.sqrt(weight / most)) } };
  }, [view, tasks, order]);
  const marked = useMemo(() => (chosen === null ? [] : [chosen]), [chosen]);
  const groups = tasks.names.length < tasks.total ? ` Each dot is a group of about ${formatNumber(Math.round(tasks.total / tasks.names.length))} tasks, at the node of most of them.` : "";
  const caption = `${nameOf(view, at)}: cost ${formatNumber(order.cost, 6)}. Dots are coloured by node, as in the picture of the hardware.${groups}`;
  return html`<${Graph} name=${`tasks-${slug(view, at)}`} title="Tasks" caption=${caption} graph=${tasks} look=${look} chosen=${marked} onChoose=${onChoose}
    tell=${(task) => `on node ${nodes[order.places[task]]}`} />`;
}

/** @param {{view: MappingView, order: Order, at: number, chosen: number | null}} props */
function Loads({ view, order, at, chosen }) {
  const { topology } = view;
  const most = largest(view.orders.map((each) => largest(each.link_load ?? []))) || 1;
  const busiest = largest(view.orders.map((each) => largest(each.node_load))) || 1;
  const look = useMemo(() => ({
    fill: topology.names.map((_, node) => (order.node_load[node] > 0 ? placeOf(node, topology.names) : IDLE)),
    size: order.node_load.map((load) => (load > 0 ? 0.7 + 0.6 * (load / busiest) : 0.6)),
    square: topology.slots.map((slots) => slots === 0),
    edge: order.link_load && { share: order.link_load.map((load) => (load > 0 ? load / most : null)), width: order.link_load.map((load) => 0.8 + 5 * (load / most)) },
  }), [view, order]);
  const marked = useMemo(() => (chosen === null ? [] : [order.places[chosen]]), [chosen, order]);
  const worst = order.link_load ? largest(order.link_load) : null;
  const idle = order.link_load ? order.link_load.filter((load) => load === 0).length / (order.link_load.length || 1) : null;
  const links = worst === null ? "Links carry what cannot be told here." : `The busiest link carries ${formatNumber(worst, 5)}; ${formatShare(idle)} of the links carry nothing. Thick links carry most, large dots have most work, grey ones none.`;
  return html`<${Graph} name=${`loads-${slug(view, at)}`} title="Hardware" caption=${`${nameOf(view, at)}. ${links}`} graph=${topology} look=${look} chosen=${marked}
    tell=${(node) => (topology.slots[node] === 0 ? "a switch" : `work ${formatNumber(order.node_load[node])}`)} />`;
}

/**
 * Show the traffic at every distance.
 * @param {{view: MappingView}} props
 */
export function Hops({ view }) {
  const chart = useMemo(() => {
    const single = view.distance_width === 1 || view.distance_width === 0;
    return {
      names: view.orders.map((_, at) => nameOf(view, at)),
      labels: view.distances.map((left) => (single ? formatNumber(left) : `${formatNumber(left, 3)}–${formatNumber(left + view.distance_width, 3)}`)),
      values: view.orders.map((order) => order.volume),
      xName: "distance",
      yName: "traffic",
    };
  }, [view]);
  const draw = useMemo(() => bars(chart), [chart]);
  const tell = useMemo(() => tellBars(chart), [chart]);
  const means = view.orders.map((order) => meanDistance(view, order));
  const caption = means.length > 1 ? `A unit of traffic travels ${formatNumber(means[1], 3)} on average, in ${nameOf(view, 0).toLowerCase()} ${formatNumber(means[0], 3)}.` : `A unit of traffic travels ${formatNumber(means[0], 3)} on average.`;
  return html`<${Picture} name="distances" title="Traffic at every distance" caption=${caption} height=${270} draw=${draw} tell=${tell} />`;
}

/** @param {{view: MappingView}} props */
function Matrices({ view }) {
  const draw = useMemo(() => matrices(view), [view]);
  const tell = useMemo(() => tellMatrix(view), [view]);
  const height = (width) => matrixHeight(width, view.orders.length);
  const cell = view.matrix.tasks_per_cell > 1 ? ` A cell is ${formatNumber(view.matrix.tasks_per_cell, 3)} tasks wide.` : "";
  const caption = `Rows and columns are the tasks in the order of the nodes that they lie on; the nearer to the diagonal, the nearer traffic stays.${cell}`;
  return html`<${Picture} name="matrix" title="Communication matrix" caption=${caption} height=${height} draw=${draw} tell=${tell} />`;
}

/**
 * @param {MappingView} view
 * @param {Order} order
 */
function meanDistance({ distances, distance_width: width }, { volume }) {
  const total = volume.reduce((sum, part) => sum + part, 0) || 1;
  const middle = width === 1 ? 0 : width / 2;
  return volume.reduce((sum, part, k) => sum + part * (distances[k] + middle), 0) / total;
}

/**
 * Return the name of an order for people.
 * @param {MappingView} view
 * @param {number} at
 */
export function nameOf(view, at) {
  return at || view.orders.length === 1 ? "TIGER" : `${view.orders[0].name[0].toUpperCase()}${view.orders[0].name.slice(1)} order`;
}

function placeOf(place, nodes) {
  return placeColour(nodes.length > 1 ? place / (nodes.length - 1) : 0);
}

/**
 * @param {MappingView} view
 * @param {number} at
 */
function slug(view, at) {
  return at || view.orders.length === 1 ? "after" : "before";
}
