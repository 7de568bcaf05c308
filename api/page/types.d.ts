// Written by `python docs/scripts/typescript.py` from the OpenAPI document of the service: do not edit.

/** State tasks that are new, as a part of a node-link graph. */
export interface AddedTasks {
  /** The new tasks, with `id` and optionally `work` and `memory`. */
  nodes: TaskNode[];
  /** Their traffic: `source`, `target` and optionally `weight`; one end may be a task that was there. */
  edges?: TaskEdge[];
}

/**
 * Hold the advice to `keep` the map in use or to `move` to another one, with the reason, and what the change does. All
 * is about the best change that was found, also where the advice is to keep: `gain` is the part of a step that it
 * saves, `gain_s` the seconds. `moves` experts come to a device that did not hold them, in `move_s` seconds, those of
 * the device that receives longest, paid after `break_even_steps`, infinite without a gain. Seconds are None where
 * prices are not in seconds, and moves cost nothing then.
 */
export interface Advice {
  advice: "keep" | "move";
  reason: string;
  gain: number;
  gain_s: number | null;
  moves: number;
  move_s: number | null;
  break_even_steps: number | null;
}

/** Ask where the tasks of a graph go on a topology. */
export interface AssignRequest {
  /**
   * Specification of a pattern such as `halo:16x16` (kinds: halo, ring, alltoall, fft, tree-allreduce, cg, parallel),
   * or a task graph as networkx node-link JSON: nodes with `id` and optionally `work` and `memory`, edges (or `links`)
   * with `source`, `target` and optionally `weight`, the traffic, beside or in place of edges `hyperedges` with
   * `tasks`, ids that all get one message, and optionally its `volume`, or a file of tasks as `{file, text}`: its name,
   * whose ending says what it is, and its text. A `.ram` file has the rule `levels` unless another is stated. A string
   * is never opened as a file.
   */
  tasks: string | TaskGraph | FileText | UploadReference;
  /**
   * Specification such as `torus:4x4x4` (see `GET /topologies`), or a node-link graph: nodes with `id` and optionally
   * `slots`, `cost` and `memory`, edges with optional `weight` (length) and `bandwidth`, or a file of hardware as
   * `{file, text}`: its name, whose ending says what it is, and its text. A string is never opened as a file. Left out
   * where the tasks are a `.dat` file, which has its own distances, and nowhere else.
   */
  topology?: string | HardwareGraph | FileText | UploadReference | null;
  /**
   * Id of a job that has ended, whose mapping, placement or initial layout is taken in place of `start` or
   * `initial_layout`. The request is kept with what it stands for.
   */
  start_job?: string | null;
  /**
   * What of a machine as lstopo describes it a task gets and is bound to, all of a host with `host`, where it is not
   * bound; a core without it.
   */
  units?: "core" | "l3" | "numa" | "socket" | "gpu" | "nic" | "host" | null;
  /**
   * Cores of each task, for its threads: groups of cores that lie together in each NUMA domain, or in the socket or the
   * host where that has too few; of hosts with slots alone as many slots.
   */
  cores_per_rank?: number | null;
  /**
   * Tasks of each host (`node`) that gets any, and at most of each of its parts: `node=4,socket=2`, also `numa` and
   * `l3`.
   */
  ranks_per?: string | null;
  /** How tasks share a node; one-to-one where that fits. */
  rule?: "one-to-one" | "levels" | "capacity" | null;
  /** Tasks that fit on a node, under the capacity rule. */
  slots?: number | null;
  /** Scales the slots by 1 + this, rounded down. */
  imbalance?: number;
  /**
   * Fill hosts that are near each other, where stated slots leave that open; without it every host gets its even share
   * of the tasks, and so does every part of it.
   */
  pack?: boolean;
  /** What to minimize: the cost, the largest load of a link, or the time until the last task ends. */
  objective?: "cost" | "max-link-load" | "makespan" | "ring" | "multicast";
  /** How loads of links are counted: on one shortest path, split evenly over equal ones, or as is best. */
  routing?: "single" | "equal" | "weighted";
  /** Nodes to take for the tasks, with all their units; all that there are unless given. */
  nodes?: number | null;
  /** The least gain, as a part of the value, for which the verdict is to change the order. */
  threshold?: number;
  /** Most tasks that go to another node than in `start`, or of `previous` beyond those that have to. */
  max_moves?: number | null;
  /**
   * What to move a task costs that might stay where `previous` has it, in the unit of the cost; without it and
   * `max_moves` as few move as can be.
   */
  move_cost?: number | null;
  /**
   * Whether the ranks of every host are consecutive; where the launcher needs that (mpich, pbs, jobset), by default.
   */
  contiguous_hosts?: boolean | null;
  /** The same request with the same seed has the same answer. */
  seed?: number;
  /** Search effort; 1 unless a time limit is given. */
  effort?: number | null;
  /**
   * Searches side by side, each with the effort, that exchange their best; the answer depends on how many there are.
   */
  islands?: number;
  /** Seconds to search, at most the server's own limit. */
  time_limit_s?: number | null;
  /** Launcher that the order of tasks as ranks is written for, in the field `emitted`. */
  emit?: "openmpi" | "prrte" | "slurm" | "flux" | "pbs" | "mpich" | "intel" | "cray" | "torchrun" | "nccl" | "kueue" | "volcano" | "hypernode" | "jobset" | "permutation" | "wrapper" | "csv" | "dot" | null;
  /** What is inside the nodes; tasks go to its units, called NODE/UNIT. */
  node_topology?: InsideBody[] | null;
  /** Labels of nodes of Kubernetes that make levels, outermost first; the usual ones without it. */
  labels?: string[] | null;
  /** Distance of units that a level separates, by the name of the level. */
  levels?: Record<string, number> | null;
  /**
   * Names of the nodes that may hold tasks, in the order in which the launcher fills them, or objects that say how many
   * slots of each; the others only forward traffic, and no default counts them. A name that comes several times has as
   * many slots. Or the text of a host file, which may have brackets: lines such as `n01 slots=4` or `n01:4`, or
   * `n[01-03] SLURM_TASKS_PER_NODE=48(x2),20`. All nodes without it.
   */
  allocation?: string | (string | GrantedBody)[] | null;
  /** Links that other jobs use in part; traffic keeps off them. */
  running?: ShareBody[];
  /** Node of every task that must go there. */
  pinned?: Record<string, string>;
  /** Pairs [task, node] that must not meet. */
  forbidden?: [string, string][];
  /** Node of every task in the mapping to improve, which the answer is never worse than. */
  start?: Record<string, string> | null;
  /**
   * Node of every task in the mapping in use before tasks or hardware changed; it may have others, and need not have
   * all. Tasks stay where they can: `moves` of the report says which do not, and why.
   */
  previous?: Record<string, string> | null;
  /** Name of a solver, see `GET /solvers`. */
  solver?: string;
  /** Penalties, temperatures and encoding of the QUBOs. */
  ising?: IsingBody;
}

/**
 * Hold what simple orders cost: tasks filled into the nodes in blocks, dealt out in turns (cyclic), and at random. None
 * where an order has not been made feasible. Random is the mean of ten mappings. `start` is what the mapping costs that
 * the search was given to start from, None without one.
 */
export interface Baselines {
  start: number | null;
  block: number | null;
  cyclic: number | null;
  random: number | null;
}

/** Hold the least costs of some reads: as they came, after repair, and after polish; None where there were none. */
export interface BestReads {
  raw: number | null;
  repaired: number | null;
  polished: number | null;
}

/**
 * Hold the seconds of an iteration of the slowest replica, by what its positions do, in the mean over positions.
 * `compute_s` is computing, `tensor_s` all-reduces of tensor-parallel ranks, `groups_s` what ranks with the same layers
 * send each other in passes (context and expert ranks, weights that are shared out), `messages_s` sending to and
 * receiving from other positions, `gradients_s` all-reducing gradients, `waiting_s` the rest. They add up to the
 * iteration.
 */
export interface Breakdown {
  compute_s: number;
  tensor_s: number;
  messages_s: number;
  gradients_s: number;
  waiting_s: number;
  groups_s: number;
}

/** Show a circuit by its numbers, and by how many gates any two of its qubits share. */
export interface CircuitPreview {
  schema: "tiger.view/1";
  kind: "circuit";
  qubits: number;
  gates: number;
  two_qubit_gates: number;
  depth: number;
  interactions: GraphView;
}

/**
 * Answer where a circuit of n qubits goes on a device. The layouts say on which device qubit every circuit qubit, by
 * its number in the circuit, starts and ends. `circuit` is the routed circuit on all device qubits and `qasm` the same
 * as OpenQASM 2, or 3 where it takes that (None where neither can say it); its `layout` is Qiskit's, for
 * `observable.apply_layout(report.circuit.layout)`. Gates on three and more qubits are written out on two before
 * anything counts, so that all figures are above the circuit that they leave, the bound and Qiskit's figures as well.
 * `extra_cx` is 3 for every SWAP and BRIDGE, and `depth` counts a SWAP as 3 and readout as 0; gates in blocks of
 * control flow count once. Every routing of this circuit, in all orders of gates that `commute` allows and from the
 * layout if one was given, adds at least `lower_bound` extra CX; `gap` is (extra_cx - lower_bound) / extra_cx, 0 when
 * both are 0, None where the bound is 0 and `extra_cx` is not. `optimal` says that they meet where extra CX are the
 * objective; it is never said of another objective. `baseline_..` is what Qiskit's own layout and routing come to at
 * the same level and seed. `data_movement` compares four placements of the gates (`tiger.routing.ising.movement`), and
 * `placement_extra_cx` what routing adds from there: a short search from the trivial layout, which stays, and from the
 * layouts of both Ising formulations. `success_probability` needs error rates. `sampling` says what a sampler drew,
 * None for other solvers. Where nothing feasible exists all of these are None or empty, and `violations` name what
 * cannot be met. Stages have their best extra CX as cost; `seconds` is wall time. `device` is what the device was read
 * from, which pictures need. JSON has all but the `circuit` and the `device`, by the schema `tiger.circuit/1`.
 */
export interface CircuitReport {
  schema: "tiger.circuit/1";
  initial_layout: Record<string, number>;
  final_layout: Record<string, number>;
  qasm: string | null;
  optimized_qasm: string | null;
  swaps: number | null;
  bridges: number | null;
  extra_cx: number | null;
  depth: number | null;
  data_movement: DataMovement | null;
  baseline_extra_cx: number | null;
  lower_bound: number | null;
  gap: number | null;
  optimal: boolean;
  success_probability: number | null;
  baseline_depth: number | null;
  baseline_success_probability: number | null;
  placement_extra_cx: DataMovement | null;
  feasible: boolean;
  violations: Violation[];
  solver: string;
  level: number;
  objective: "cx" | "depth" | "success";
  seed: number;
  islands: number;
  stages: Stage[];
  warnings: string[];
  sampling: SamplingReport | null;
  seconds: number;
}

/** Ask where the qubits of a circuit go on a device, and for the routed circuit. */
export interface CircuitRequest {
  /**
   * OpenQASM 2 or 3, which may include nothing but its standard library. Gates on three and more qubits are written out
   * on one and two; those without a definition are refused.
   */
  circuit: string;
  /**
   * Specification such as `heavy-hex:7` (see `GET /topologies`), pairs of qubits, an object with a `coupling_map` of
   * pairs and optionally `num_qubits`, a node-link graph, or a Target: `num_qubits`, `gates` with `name`, `qubits`,
   * `error` and `duration`, `measure` with `qubit`, `error` and `duration`, and `qubits` with `qubit`, `t1` and `t2`;
   * errors from 0 to 1 (faulty), times in seconds. A file of these, or with two qubits on every line, is `{file,
   * text}`. No string is opened as a file.
   */
  topology: string | [number, number][] | CouplingMap | Target | HardwareGraph | FileText | UploadReference;
  /**
   * Id of a job that has ended, whose mapping, placement or initial layout is taken in place of `start` or
   * `initial_layout`. The request is kept with what it stands for.
   */
  start_job?: string | null;
  /** Samples the Ising proposals, see `GET /solvers`. */
  solver?: string;
  /** The same request with the same seed has the same answer. */
  seed?: number;
  /** Multiplies the iterations of the search. */
  effort?: number;
  /** Seconds after which the search ends early. */
  time_limit_s?: number | null;
  /** How hard to search, as Qiskit's optimization levels. */
  level?: number;
  /** What to make good: extra CX gates, depth, or the probability of success. */
  objective?: "cx" | "depth" | "success";
  /**
   * Searches side by side, each with the effort, that exchange their best; the answer depends on how many there are.
   */
  islands?: number;
  /** Whether gates may change places where that is the same circuit. */
  commute?: boolean;
  /** Whether the circuit may be written anew, with other gates that do the same, where that is better. */
  optimize?: boolean;
  /** Device qubit of every circuit qubit, in order; chosen without it. */
  initial_layout?: number[] | null;
}

/**
 * Show a routed circuit on the vertices of a device, which are its qubits unless there are too many. `initial` and
 * `final` are where every circuit qubit starts and ends. Gates are in the order of their layers, at most 20,000 of
 * `total_gates`; `second` is -1 for those on one qubit. `swaps` counts the SWAPs of `layers_per_bin` layers each.
 * Errors are None where they are not known.
 */
export interface CircuitView {
  schema: "tiger.view/1";
  kind: "circuit";
  device: GraphView;
  edge_error: (number | null)[];
  readout_error: (number | null)[];
  initial: number[];
  final: number[];
  name: string[];
  first: number[];
  second: number[];
  layer: number[];
  layers: number;
  total_gates: number;
  swaps: number[];
  layers_per_bin: number;
}

/**
 * Show the devices of a cluster, each with a slot, and their memory, None without an end. The length of a link is the
 * seconds of a gigabyte over it, `bandwidth` its bytes/s for large messages.
 */
export interface ClusterView {
  names: string[];
  x: number[];
  y: number[];
  counts: number[];
  a: number[];
  b: number[];
  weight: number[];
  directed: boolean;
  total: number;
  total_edges: number;
  slots: number[];
  bandwidth: (number | null)[];
  schema: "tiger.view/1";
  kind: "cluster";
  memory_bytes: (number | null)[];
}

/** Describe a job of a comparison; a figure is null where its report has none, or is not there yet. */
export interface ComparedJobBody {
  label: string;
  job: string;
  /** `gone` where the job has been purged. */
  status: "queued" | "running" | "done" | "failed" | "cancelled" | "gone";
  /** Why the job failed, if it did. */
  problem: ProblemBody | null;
  feasible: boolean | null;
  optimal: boolean | null;
  /**
   * Fields of its request that are not the same in all, null where it leaves one out, and an object with the digest
   * `sha256` and `bytes` of one that is long.
   */
  request: Record<string, unknown>;
  figures: Record<string, number | null>;
  /** Figures divided by those of the first row. */
  ratios: Record<string, number | null>;
  /** Figures of which no other row has a better one. */
  best: string[];
}

/** Describe a comparison as a table: a row for each job, a column for each figure that some report has. */
export interface ComparisonBody {
  id: string;
  kind: "assign" | "place" | "plan" | "experts";
  /** Seconds since 1970. */
  created_s: number;
  labels: string[];
  /** The ids of the jobs, as the labels are. */
  jobs: string[];
  /** Whether all of its jobs have ended. */
  ended: boolean;
  /**
   * Whether the `tasks`, the `circuit`, the `model` or the `trace` of all requests are equal, whatever else differs;
   * null where a request is not known any more.
   */
  same_problem: boolean | null;
  /** Fields of requests that are not the same in all. */
  differs: string[];
  columns: FigureBody[];
  rows: ComparedJobBody[];
}

/** Ask for a comparison of two to ten jobs of one kind: of `entries`, of `variants` of one request, or of both. */
export interface ComparisonRequest {
  /** Jobs, and requests that become jobs, each stated in full. */
  entries?: EntryRequest[];
  /** The route that takes the request. */
  kind?: "assign" | "place" | "plan" | "experts" | null;
  /** The request that `variants` change. */
  request?: AssignRequest | CircuitRequest | PlaceRequest | PlanRequest | ExpertRequest;
  /** Changes of `request`, each of which becomes a job. */
  variants?: VariantRequest[];
}

/** Describe a comparison without what its jobs have come to. */
export interface ComparisonSummary {
  id: string;
  kind: "assign" | "place" | "plan" | "experts";
  /** Seconds since 1970. */
  created_s: number;
  labels: string[];
  /** The ids of the jobs, as the labels are. */
  jobs: string[];
}

/** List comparisons, the newest first, and where the next page is. */
export interface ComparisonsBody {
  comparisons: ComparisonSummary[];
  next: string | null;
}

/** Describe a device by its pairs of coupled qubits. */
export interface CouplingMap {
  coupling_map: [number, number][];
  num_qubits?: number;
}

/**
 * Hold the movement under the trivial layout, the static QUBO's, in the levels model, and of the routed circuit. None
 * where a placement is missing, or needs a way between parts of the device that are not connected.
 */
export interface DataMovement {
  trivial: number | null;
  static_qubo: number | null;
  levels: number | null;
  routed: number | null;
}

/** Say what was used on a day. */
export interface DayBody {
  /** The day (UTC). */
  day: string;
  processor_s: number;
}

/**
 * Say whether the plan stays, and what the plan of the next interval is: stage j holds layers cuts[j] .. on.
 * `iteration_s` is the simulated iteration of that plan by the measured times, `kept_s` that of the plan in use, None
 * where that cannot run any more, and `best_s` that of the best plan found. `moving_s` are the seconds of all moves,
 * one after another, of a whole optimizer state each; they are paid back after `break_even` iterations, None where
 * nothing moves or nothing is compared. `freed` are devices that held layers and hold none. The action "stop" says that
 * devices are left that cannot hold the layers: there is no plan then. `seconds` the decision took.
 */
export interface Decision {
  action: "keep" | "move" | "stop";
  why: string;
  cuts: number[];
  devices: string[];
  iteration_s: number | null;
  kept_s: number | null;
  best_s: number | null;
  lower_bound_s: number | null;
  moves: Move[];
  moved_layers: number;
  moved_bytes: number;
  moving_s: number;
  break_even: number | null;
  freed: string[];
  seconds: number;
}

/**
 * Hold a choice: sizes of the groups, the schedule, and how a replica's part of the batch is cut. `microbatch` is the
 * number of sequences in each of `microbatches`, None where a model says only what one costs. `context` devices share
 * every sequence, experts are dealt out among `expert`, and `sharding` and `recompute` say what is shared out and what
 * is computed again, of the first `recompute_layers` of a stage, None for all.
 */
export interface Degrees {
  pipeline: number;
  tensor: number;
  data: number;
  schedule: "gpipe" | "1f1b" | "interleaved" | "zero-bubble" | "zb-v" | "dualpipe-v" | "chimera";
  virtual: number;
  microbatches: number;
  microbatch: number | null;
  context: number;
  expert: number;
  sharding: "none" | "zero-1" | "zero-2" | "zero-3";
  recompute: "none" | "selective" | "full";
  recompute_layers: number | null;
}

/** Describe a device. */
export interface Device {
  kind?: "accelerator" | "cpu";
  type?: string;
  flops?: number;
  memory_bandwidth?: number | string;
  memory_bytes?: number | string;
  speed?: number;
  name: string;
  machine?: string;
}

/** Describe the connection of two devices. */
export interface DeviceLink {
  bandwidth?: number | string;
  latency?: number | string;
  table?: (number | string)[][] | MeasuredText | MeasuredRun;
  a: string;
  b: string;
  wire?: boolean;
}

/**
 * Hold the tokens of a step for each device, by layers, before and after, and lower bounds on the largest. `bound` is
 * None where loads have no price. `speed` are those of devices over that of the fastest, None where all are the same:
 * the largest load is that over the speed, as many tokens as the fastest device has in the same time.
 */
export interface DeviceLoads {
  before: number[][];
  after: number[][];
  bound: number[] | null;
  speed: number[] | null;
}

/** Describe devices one by one, with links or what every two of them have between them. */
export interface DeviceTable {
  devices: Device[];
  uniform_bandwidth?: number | string;
  uniform_latency?: number | string;
  uniform_table?: (number | string)[][] | MeasuredText | MeasuredRun;
  links?: DeviceLink[];
  nics?: Record<string, number>;
  in_switch_reduction?: Record<string, boolean | number>;
}

/** Describe what one operator sends another as dnn-partitioning does; the cost is in ms. */
export interface DnnPartitioningEdge {
  sourceId: number | string;
  destId: number | string;
  cost: number;
  size?: number;
}

/** Describe operators and devices as dnn-partitioning does. */
export interface DnnPartitioningGraph {
  nodes: DnnPartitioningNode[];
  edges: DnnPartitioningEdge[];
  maxFPGAs?: number;
  maxSizePerFPGA?: number;
  maxCPUs?: number;
}

/** Describe an operator as dnn-partitioning does; latencies are in ms. */
export interface DnnPartitioningNode {
  id: number | string;
  supportedOnFpga: boolean | number;
  cpuLatency: number;
  fpgaLatency: number;
  isBackwardNode: boolean | number;
  name?: string;
  colorClass?: number | string;
  size?: number;
  layerId?: number | string;
}

/** Describe what the answer of a job can be written for, to be had from `/jobs/{id}/emit/{name}`. */
export interface EmissionBody {
  name: string;
  /** What the file is called. */
  file: string;
  media_type: string;
}

/** Name a job to be compared, or ask for one. */
export interface EntryRequest {
  /** What the entry is called; the start of the id of its job or its number else. */
  label?: string | null;
  /** The id of a job of yours, whether it has ended or not. */
  job?: string | null;
  /** The route that takes the request. */
  kind?: "assign" | "place" | "plan" | "experts" | null;
  /** A request, as that route takes it, which becomes a job. */
  request?: AssignRequest | CircuitRequest | PlaceRequest | PlanRequest | ExpertRequest;
}

/**
 * Hold the parts of what a map of experts costs, all in one unit, and their sum `total`, which is made small. `load` is
 * the sum over layers of the largest load of a device, `links` what transitions between devices take, and `moves` what
 * becoming this map takes, divided by the steps that it stays.
 */
export interface ExpertCost {
  load: number;
  links: number;
  moves: number;
  total: number;
}

/**
 * Hold what was made small: seconds of a step (`s`), hops of a transition, or tokens of largest loads. `before` is the
 * map in use, or experts in order, `after` the map to use from now on, and `bound` what all maps under the same rule
 * cost at least.
 */
export interface ExpertObjective {
  unit: "s" | "hops" | "tokens";
  before: ExpertCost;
  after: ExpertCost;
  bound: ExpertCost;
}

/**
 * Answer where the experts of each layer go so that a step costs little. `slots[layer]` are the experts of all slots,
 * of which each of the `devices` has as many in order, or as many as `slots_of_devices[layer]` says, and `stages` say
 * the same by device. Where memory does not hold them, both are empty, `violations` say why, and costs are those of
 * what comes before. `objective` says what a step costs and at least costs, `optimal` that these meet, and `verdict`
 * whether to leave the map in use, None without one. Of a trace, `placed` is how often tokens change device,
 * `contiguous` what the order of numbers comes to; without replicas `greedy` is one layer after another, and `flat`,
 * where hops differ and nothing else has a price, sweeps that take them for equal. A token with `top_k` experts in a
 * layer makes `top_k` x `top_k` transitions. `progress` has what each step of the search reached, in the objective's
 * unit, `seconds` is wall time. `shares` are those of tokens where they are balanced for each batch: `objective` then
 * has means over drawn batches, else over those given, and `loads` are those of mean loads, with the best shares.
 * `flows` are transitions from device to device before and after, not serialised.
 */
export interface ExpertReport {
  schema: "tiger.experts/1";
  kind: "trace" | "loads";
  layers: number;
  experts: number;
  replicas: number;
  top_k: number | null;
  tokens: number;
  held_out_tokens: number;
  devices: string[];
  slots: number[][];
  slots_of_devices: number[][] | null;
  stages: ExpertStage[];
  objective: ExpertObjective;
  loads: DeviceLoads;
  shares: TokenShares | null;
  verdict: Advice | null;
  placed: RoutingCost | null;
  contiguous: RoutingCost | null;
  greedy: RoutingCost | null;
  flat: RoutingCost | null;
  optimal: boolean;
  feasible: boolean;
  violations: Violation[];
  seed: number;
  progress: Stage[];
  warnings: string[];
  seconds: number;
}

/** Ask where the experts of a mixture go, and whether a change of the map in use pays. */
export interface ExpertRequest {
  /** Experts of a layer; loads state them themselves. */
  experts?: number | null;
  /** What the input is: choices of tokens, or loads of experts. */
  kind?: "trace" | "loads";
  /** Share of the tokens, the last ones, on which the placement is tested alone. */
  held_out?: number;
  /** Slots of a layer beyond one an expert, on all devices. */
  replicas?: number;
  /** Most replicas of an expert on one device. */
  duplicates?: number;
  /**
   * How the tokens of an expert are shared among its replicas: as many to each (`equal`), or so that devices are even,
   * solved for each batch (`balanced`), as LPLB does. A balanced map is made for batches to come.
   */
  sharing?: "equal" | "balanced";
  /** How much a batch of loads counts beside the next one, which is newer. */
  decay?: number;
  /** Groups of experts in order, each of which stays on one machine. */
  groups?: number | null;
  /** Seconds that an expert takes for a token. */
  token_s?: number | null;
  /** Bytes of a token that goes to another device. */
  token_bytes?: number | null;
  /** Tokens of a step, by default those of the trace. */
  step_tokens?: number | null;
  /** Bytes of an expert: what a replica takes of its device's memory, and what is sent where one moves. */
  expert_bytes?: number | null;
  /** Bytes of the memory of every device that are not for experts. */
  reserved_bytes?: number;
  /** Slots of every device: as many as of others (`device`), or in proportion to its speed. */
  slots_by?: "device" | "speed";
  /** Steps that loads are expected to stay as they are. */
  steps?: number;
  /** Most experts that move. */
  most_moves?: number | null;
  /** The least part of a step that a change of the map in use has to save. */
  threshold?: number;
  /** The same request with the same seed has the same answer. */
  seed?: number;
  /** Multiplies the iterations of the search. */
  effort?: number;
  /** Seconds after which the search ends early. */
  time_limit_s?: number | null;
  /**
   * The expert of each token in each layer, [tokens, layers], or the k of each, [tokens, layers, k]; with `kind` loads
   * the tokens of a step that go to each expert, [layers, experts], or those of several batches, the newest last,
   * [batches, layers, experts].
   */
  trace: (number[] | number[][])[];
  /**
   * Specification such as `dgx:2`, or an object: `devices` with `links` or uniform bandwidth and latency, `machines`
   * with their networks, `hosts` (a network, as a file that `POST /assign` takes) with a `machine` inside each and
   * `networks` by level, `nvidia_smi_topo`, `nccl_topo` or `nccl_tests`, or a file of devices as `{file, text}`, which
   * a `machine` may be too: its name, whose ending says what it is, and its text. Quantities are bytes, bytes/s and
   * seconds, or text with a unit such as `80GB`, `200Gb/s` or `25us`. A cluster that is a string is never opened as a
   * file.
   */
  cluster: string | DeviceTable | MachineTable | HostTable | NvidiaMachine | NcclMachine | MeasuredMachine | FileText | UploadReference;
  /** The map in use: the expert of every slot of each layer. */
  in_use?: number[][] | null;
}

/**
 * Hold a device, its experts `LAYER:EXPERT`, both numbers counted from 0, and its tokens of a step in all layers.
 * `load_before` is of the map in use, or of experts in order. Tokens are shared among an expert's replicas, which take
 * `memory_bytes` of the `capacity_bytes` for experts, None for any; both are None where no bytes are known.
 */
export interface ExpertStage {
  device: string;
  ops: string[];
  load: number;
  load_before: number;
  memory_bytes: number | null;
  capacity_bytes: number | null;
}

/** Hold the layers whose experts a CPU has beside their device, the bytes of these, and its seconds for them. */
export interface ExpertsOnCpu {
  device: string;
  layers: string[];
  memory_bytes: number;
  seconds: number;
}

/** Point at a field of a request, and say what is wrong with it. */
export interface FieldErrorBody {
  /** A JSON pointer in fragment form, such as `#/tasks/nodes/0/id`. */
  pointer: string;
  detail: string;
}

/** Describe a figure by its name in the report. */
export interface FigureBody {
  name: string;
  /** Whether less or more of it is; null where that depends, as of bounds. */
  better: "less" | "more" | null;
  /** Empty for that of the problem. */
  unit: string;
}

/** Estimate a figure: most measured ones of its kind are within a `factor` of `value`, both ways. */
export interface FigureEstimate {
  value: number;
  factor: number;
}

/** Describe a file that a job has left, to be had from `/jobs/{id}/files/{name}`. */
export interface FileBody {
  name: string;
  /** What it holds, or the command that takes it. */
  description: string;
  bytes: number;
  media_type: string;
}

/** Hold a file as its name, whose ending says what it is, and its text. */
export interface FileText {
  file: string;
  text: string;
}

/**
 * Hold what the plan of a `layout` comes to, on devices in the order of the cluster. Figures are those of a placement,
 * and `violations` say why it cannot run where it is not `feasible`. The plan found saves the share `saved` of its time
 * and has `moved` layers on other devices, both None without such a plan or where the one given does not fit. `keep`
 * says whether that is too little to change it, and `verdict` says so in words. `deployment` holds the plan itself, and
 * is not serialised.
 */
export interface GivenLayout {
  stages: PlacedStage[];
  bottleneck_s: number | null;
  iteration_s: number | null;
  bubble: number | null;
  links: Link[];
  feasible: boolean;
  violations: Violation[];
  saved: number | null;
  moved: number | null;
  keep: boolean;
  verdict: string;
}

/**
 * Hold what the plan that somebody has comes to, with as many layers in every stage and devices in order.
 * `memory_bytes` is what the fullest device holds, `memory_share` that part of its memory, and `sent_bytes` goes
 * between devices in an iteration. `violations` say why it cannot run where it is not `feasible`, `remedies` what would
 * make it fit. Seconds are those without such limits, None where a link is missing. The best plan saves the share
 * `saved` of them, None where one of both cannot run. `keep` says whether that is too little to change the plan, and
 * `verdict` says so in words.
 */
export interface GivenPlan {
  pipeline: number;
  tensor: number;
  data: number;
  schedule: "gpipe" | "1f1b" | "interleaved" | "zero-bubble" | "zb-v" | "dualpipe-v" | "chimera";
  virtual: number;
  microbatches: number;
  microbatch: number | null;
  context: number;
  expert: number;
  sharding: "none" | "zero-1" | "zero-2" | "zero-3";
  recompute: "none" | "selective" | "full";
  recompute_layers: number | null;
  iteration_s: number | null;
  memory_bytes: number;
  memory_share: number;
  bubble: number | null;
  breakdown: Breakdown | null;
  sent_bytes: number;
  tokens_per_s: number | null;
  feasible: boolean;
  violations: Violation[];
  remedies: Remedy[];
  saved: number | null;
  keep: boolean;
  verdict: string;
}

/** Say how many slots of a node a job has. */
export interface GrantedBody {
  /** A node. */
  node: string;
  /** Its slots. */
  slots: number;
}

/**
 * Show vertices at `x`, `y` in [0, 1], y downwards, and edges from `a` to `b` with a `weight`. `counts` is how many
 * vertices of the graph each stands for; `total` and `total_edges` are those of the graph itself. Each pair comes once
 * unless `directed`, at most 8,000 of them, the heaviest.
 */
export interface GraphView {
  names: string[];
  x: number[];
  y: number[];
  counts: number[];
  a: number[];
  b: number[];
  weight: number[];
  directed: boolean;
  total: number;
  total_edges: number;
}

/** Describe hardware as networkx writes a graph in node-link form. */
export interface HardwareGraph {
  directed?: boolean;
  multigraph?: boolean;
  nodes: HardwareNode[];
  edges: HardwareLink[];
}

/** Describe a link of hardware; the weight is its length. */
export interface HardwareLink {
  source: number | string | unknown[];
  target: number | string | unknown[];
  weight?: number;
  bandwidth?: number;
}

/** Describe a node of hardware. */
export interface HardwareNode {
  id: number | string | unknown[];
  slots?: number;
  cost?: number;
  memory?: number;
}

/** Show a topology. */
export interface HardwareView {
  names: string[];
  x: number[];
  y: number[];
  counts: number[];
  a: number[];
  b: number[];
  weight: number[];
  directed: boolean;
  total: number;
  total_edges: number;
  slots: number[];
  bandwidth: (number | null)[];
  schema: "tiger.view/1";
  kind: "topology";
}

/** Say that the server answers. */
export interface HealthBody {
  status?: "ok";
}

/** Describe hosts by a file of their network, and what is inside all of them, or inside those listed. */
export interface HostTable {
  hosts: FileText | UploadReference;
  machine: MachineInside | string | DeviceTable | MachineTable | FileText | UploadReference | HostsInside[];
  networks?: Network[] | Record<string, Network>;
  labels?: string[];
}

/** Describe what is inside some hosts. */
export interface HostsInside {
  hosts?: string;
  machine?: MachineInside | string | DeviceTable | MachineTable | FileText | UploadReference;
}

/** Say what is inside nodes. */
export interface InsideBody {
  /** Specification, or a file of hardware as its name and its text. */
  topology: string | FileText | UploadReference;
  /** The nodes that have this inside, such as `gpu[0-3],n7`; all without it. */
  hosts?: string | null;
}

/** Set the QUBOs that are sampled; what is not given is chosen by the solver. */
export interface IsingBody {
  /** Penalties as a multiple of their safe bound, not tuned. */
  penalty_scale?: number | null;
  /** Inverse temperatures, hot then cold, in 1 / cost. */
  beta_range?: [number, number] | null;
  /** Whether slack bits encode what a node may hold. */
  capacity?: "slack" | "slack-free";
  /** Set some reads beside coin flips, for `sampling` of the report. */
  control?: boolean;
  /** Most seconds of QPU access time. */
  qpu_time_s?: number | null;
}

/** Describe a job; the report of one that was cancelled is the best found so far, if anything was. */
export interface JobBody {
  id: string;
  kind: "assign" | "place" | "plan" | "experts";
  status: "queued" | "running" | "done" | "failed" | "cancelled";
  /** How urgent it is, from 0 to 9, which goes first. */
  priority: number;
  tags: string[];
  created_s: number;
  started_s: number | null;
  ended_s: number | null;
  progress: ProgressBody | null;
  problem: ProblemBody | null;
  report: Report | CircuitReport | PlacementReport | PlanReport | ExpertReport | null;
}

/** Describe a job without its report; times are seconds since 1970. */
export interface JobSummary {
  id: string;
  kind: "assign" | "place" | "plan" | "experts";
  status: "queued" | "running" | "done" | "failed" | "cancelled";
  /** How urgent it is, from 0 to 9, which goes first. */
  priority: number;
  tags: string[];
  created_s: number;
  started_s: number | null;
  ended_s: number | null;
  progress: ProgressBody | null;
  problem: ProblemBody | null;
}

/** List jobs, the newest first, and where the next page is. */
export interface JobsBody {
  jobs: JobSummary[];
  next: string | null;
}

/** Describe a layer; times are seconds of one microbatch. */
export interface Layer {
  name: string;
  forward_s: number | string;
  backward_s: number | string;
  parameter_bytes: number | string;
  activation_bytes: number | string;
  weight_s?: number | string;
  gradient_bytes?: number | string;
  state_bytes?: number | string;
  held_bytes?: number | string;
  reduced_bytes?: number | string;
  reductions?: number;
  kind?: "embedding" | "layer" | "mtp" | "head";
  module?: string;
}

/** Describe the layers of a model, with edges other than from one to the next, and groups that share parameters. */
export interface LayerTable {
  layers: Layer[];
  edges?: string[][];
  tied?: string[][];
  scattered?: boolean;
  slices?: number;
}

/** Hold the bytes that an iteration sends between two devices, both directions together. */
export interface Link {
  a: string;
  b: string;
  bytes: number | null;
}

/**
 * Hold what crosses the link between `a` and `b`, in both directions together. `share` is load over bandwidth as a part
 * of the largest there is: 1 is the bottleneck. `before` is the load in the block order, None where that is not known.
 */
export interface LinkLoad {
  a: string;
  b: string;
  load: number;
  share: number;
  before: number | null;
}

/** Describe a group of equal machines. */
export interface Machine {
  kind?: "accelerator" | "cpu";
  type?: string;
  flops?: number;
  memory_bandwidth?: number | string;
  memory_bytes?: number | string;
  speed?: number;
  bandwidth?: number | string;
  latency?: number | string;
  table?: (number | string)[][] | MeasuredText | MeasuredRun;
  devices?: number;
  lanes?: number[][];
  lane_bandwidth?: number | string;
  lane_latency?: number | string;
  nvidia_smi_topo?: string;
  nccl_topo?: string;
  classes?: Record<string, Network>;
  nics?: number;
  in_switch_reduction?: boolean | number;
  count?: number;
  nic?: string;
}

/** Describe what is inside a machine. */
export interface MachineInside {
  kind?: "accelerator" | "cpu";
  type?: string;
  flops?: number;
  memory_bandwidth?: number | string;
  memory_bytes?: number | string;
  speed?: number;
  bandwidth?: number | string;
  latency?: number | string;
  table?: (number | string)[][] | MeasuredText | MeasuredRun;
  devices?: number;
  lanes?: number[][];
  lane_bandwidth?: number | string;
  lane_latency?: number | string;
  nvidia_smi_topo?: string;
  nccl_topo?: string;
  classes?: Record<string, Network>;
  nics?: number;
  in_switch_reduction?: boolean | number;
}

/** Describe machines by groups, and the networks between them. */
export interface MachineTable {
  machines: Machine[];
  nics?: Record<string, Network>;
  fallback?: string;
}

/**
 * Show a mapping beside the cheaper of the orders in blocks and in turns, missing where neither is allowed. `distances`
 * are the left ends of the bins of a histogram, each `distance_width` wide, or with a width of 0 the few distances that
 * there are.
 */
export interface MappingView {
  schema: "tiger.view/1";
  kind: "mapping";
  tasks: GraphView;
  topology: TopologyView;
  orders: Order[];
  distances: number[];
  distance_width: number;
  matrix: MatrixView;
}

/** Show a matrix of `size` rows and columns, of so many tasks each. */
export interface MatrixView {
  size: number;
  tasks_per_cell: number;
}

/** Describe a machine by what nccl-tests print. */
export interface MeasuredMachine {
  kind?: "accelerator" | "cpu";
  type?: string;
  flops?: number;
  memory_bandwidth?: number | string;
  memory_bytes?: number | string;
  speed?: number;
  nccl_tests: string;
}

/** Describe the measured times of a collective by the text that nccl-tests print. */
export interface MeasuredRun {
  nccl_tests: string;
  nics?: number;
}

/** Describe measured times by the text of a CSV file, and which of its rows to take. */
export interface MeasuredText {
  csv: string;
  where?: Record<string, unknown>;
}

/**
 * Hold the figures of layers cut among devices in order, in proportion to their memory, and whether they fit. That is
 * how llama.cpp cuts a model by default.
 */
export interface MemorySplit {
  latency_s: number | null;
  bottleneck_s: number | null;
  sequences: number | null;
  feasible: boolean;
}

/**
 * Show what a device of each row holds: `held_bytes[row][k]` from `when_s[row][k]` on, empty without a schedule. None
 * stands for no limit, and for what is not known. Many steps are joined, with the most of each as theirs.
 */
export interface MemoryView {
  limit_bytes: (number | null)[];
  peak_bytes: (number | null)[];
  state_bytes: (number | null)[];
  when_s: number[][];
  held_bytes: number[][];
}

/**
 * Show a model: seconds and bytes of its layers, or of its operators and what they send in `graph`. More than 2,000 are
 * in groups. `parameter_bytes` of operators is all that an accelerator holds of them. The pass that an operator is not
 * part of takes 0 s.
 */
export interface ModelView {
  schema: "tiger.view/1";
  kind: "model";
  layers: string[];
  forward_s: number[];
  backward_s: number[];
  parameter_bytes: number[];
  graph: GraphView | null;
}

/**
 * Hold a run of layers, by their names, that goes from a device to another; None where the former is gone. `seconds`
 * are those of its bytes over the link between the two; layers whose device is gone come from a checkpoint or a
 * replica, over no link that the cluster states, and count 0.
 */
export interface Move {
  first: string;
  last: string;
  layers: number;
  source: string | null;
  target: string;
  bytes: number;
  seconds: number;
}

/** Describe a machine by what NCCL dumps. */
export interface NcclMachine {
  kind?: "accelerator" | "cpu";
  type?: string;
  flops?: number;
  memory_bandwidth?: number | string;
  memory_bytes?: number | string;
  speed?: number;
  nccl_topo: string;
  classes?: Record<string, Network>;
}

/** Describe what a connection carries, by bandwidth and latency or by measured times. */
export interface Network {
  bandwidth?: number | string;
  latency?: number | string;
  table?: (number | string)[][] | MeasuredText | MeasuredRun;
}

/** Describe a machine by what `nvidia-smi topo -m` prints. */
export interface NvidiaMachine {
  kind?: "accelerator" | "cpu";
  type?: string;
  flops?: number;
  memory_bandwidth?: number | string;
  memory_bytes?: number | string;
  speed?: number;
  nvidia_smi_topo: string;
  classes?: Record<string, Network>;
}

/**
 * Hold a selected objective other than the cost: its value, that of the baseline mapping, and a lower bound. `cyclic`
 * is its value in the cyclic order and `start` that of the mapping started from, None where that has not been made
 * feasible, or is not given.
 */
export interface Objective {
  name: string;
  value: number;
  baseline: number | null;
  cyclic: number | null;
  start: number | null;
  bound: number | null;
}

/** Describe an operator. */
export interface Operator {
  name: string;
  seconds: number | string;
  cpu_seconds?: number | string;
  memory_bytes?: number | string;
  output_bytes?: number | string;
  output_seconds?: number | string;
  colocate?: number | string;
  backward?: boolean | number;
  accelerator?: boolean | number;
}

/** Describe operators, and which sends to which. */
export interface OperatorTable {
  operators: Operator[];
  edges: string[][];
}

/**
 * Show where tasks lie and what follows: the node of each task vertex, or of most of its tasks, and the work on it.
 * `link_load` is what crosses each link of the topology, both directions together, None without links. `volume` is the
 * traffic at each of the distances. Cell `row`, `column` of the communication matrix has a `value`, the tasks in the
 * order of the nodes they lie on; traffic without a direction counts half in each.
 */
export interface Order {
  name: "block" | "cyclic" | "TIGER";
  cost: number;
  places: number[];
  node_load: number[];
  link_load: number[] | null;
  volume: number[];
  row: number[];
  column: number[];
  value: number[];
}

/** Describe a PipeDream profile by its text. */
export interface PipeDreamProfile {
  graph: string;
}

/** Ask which layers or operators of a model run on which devices of a cluster. */
export interface PlaceRequest {
  /**
   * Table of `layers` with optional `edges` and `tied` groups, the shape of a `transformer`, the text of a PipeDream
   * profile as `graph`, the `config.json` of a model on Hugging Face, a name such as `llama-3-70b` or `deepseek-v3`, or
   * a specification `transformer:layers=24,..`. Times are seconds of one microbatch; of a shape, by a roofline of the
   * types of devices (an H100 where no type is stated), or at its `flops` a second on a device of speed 1. With `serve`
   * it has no backward pass, and memory is weights and KV cache. In the mode dag, `nodes` and `edges` of
   * dnn-partitioning in ms, a table of `operators` with `edges` in seconds, or a `graph`. Quantities are bytes and
   * seconds, or text with a unit such as `80GB` or `3ms`; those of dnn-partitioning and a `graph` are numbers alone.
   * All of these may also be a file, as `{file, text}`: its name, whose ending says what it is, and its text. A model
   * that is a string is never opened as a file.
   */
  model: string | LayerTable | Transformer | PipeDreamProfile | Layer[] | DnnPartitioningGraph | OperatorTable | FileText | UploadReference;
  /**
   * Specification such as `dgx:2`, or an object: `devices` with `links` or uniform bandwidth and latency, `machines`
   * with their networks, `hosts` (a network, as a file that `POST /assign` takes) with a `machine` inside each and
   * `networks` by level, `nvidia_smi_topo`, `nccl_topo` or `nccl_tests`, or a file of devices as `{file, text}`, which
   * a `machine` may be too: its name, whose ending says what it is, and its text. Quantities are bytes, bytes/s and
   * seconds, or text with a unit such as `80GB`, `200Gb/s` or `25us`. A cluster that is a string is never opened as a
   * file. Only a graph of operators that states its devices goes without.
   */
  cluster?: string | DeviceTable | MachineTable | HostTable | NvidiaMachine | NcclMachine | MeasuredMachine | FileText | UploadReference | null;
  /**
   * Where the times of a transformer come from: a file of measured operations, `{file, text}` with a name that ends in
   * `.csv`, an object of `factors`, as `tiger calibrate` writes them, or `aiconfigurator` for the tables of that
   * package, where the service has it. A roofline of the devices without it.
   */
  costs?: Record<string, unknown> | string | null;
  /**
   * Id of a job that has ended, whose mapping, placement or initial layout is taken in place of `start` or
   * `initial_layout`. The request is kept with what it stands for.
   */
  start_job?: string | null;
  /** What a device may hold: `chain`, a run of layers; `dag`, any operators of a graph. */
  mode?: string;
  /**
   * What is minimized: as `throughput` the largest load of a device, or the iteration of a schedule; as `latency` the
   * time of a microbatch alone, forward through all stages of a chain, or the makespan of a graph; `both`, each divided
   * by its bound, in the mode dag alone. `cache` has as many sequences at once as can be, of a chain that serves.
   */
  objective?: "throughput" | "latency" | "both" | "cache";
  /** In the mode dag, has no edge run backwards between the devices of a line. */
  contiguous?: boolean;
  /**
   * Lets layers of a mixture that serves stay on a GPU but for their experts, whose weights and products are on the
   * first CPU of the cluster, with the objective latency. Not by itself, as llama.cpp alone runs such plans.
   */
  experts_on_cpu?: boolean;
  /**
   * The type that products are computed in; fp8 keeps weights in bf16 beside copies in fp8. As the model states it
   * without this.
   */
  precision?: "fp8" | "bf16" | "fp16" | "fp32" | null;
  /** What the optimizer keeps of a parameter: two moments in fp32, in bf16 or in 8 bits, or momentum. */
  optimizer?: "adam" | "adam-bf16" | "adam-8bit" | "sgd";
  /** The type in which gradients are added up and sent; fp16 for fp16 without it, else fp32. */
  gradients?: "fp16" | "bf16" | "fp32" | null;
  /** Has tensor-parallel devices share all activations, norms and dropout included. */
  sequence_parallel?: boolean;
  /**
   * Has tensor-parallel devices send while products run, which lose this share of their speed meanwhile; they wait for
   * messages without it.
   */
  overlap_tensor?: number | null;
  /**
   * Has messages between stages go on behind passes, which lose this share of their speed meanwhile, as with
   * Megatron-LM's interleaved schedule; both ends wait for messages without it.
   */
  overlap_pipeline?: number | null;
  /**
   * Tokens of a sequence in training; as the model states it without this, and 4,096 or fewer of a configuration of
   * Hugging Face.
   */
  sequence?: number | null;
  /**
   * Sequences that are answered at once, of a model that serves instead of learning: a device holds its weights, as its
   * checkpoint has them, and the keys and values of so many sequences.
   */
  serve?: number | null;
  /**
   * Bytes per second at which a device of speed 1 copies activations to its host and back; they are not offloaded
   * without it.
   */
  offload?: number | null;
  /** Orders devices or places operators, see `GET /solvers`. */
  solver?: string;
  /** The same request with the same seed has the same answer. */
  seed?: number;
  /** Multiplies the iterations of the search. */
  effort?: number;
  /** Seconds after which the search ends early. */
  time_limit_s?: number | null;
  /**
   * Makes the simulated time of an iteration small instead of the bottleneck, within the memory that this schedule
   * takes; without one, memory is parameters alone.
   */
  schedule?: "gpipe" | "1f1b" | "interleaved" | "zero-bubble" | "zb-v" | "dualpipe-v" | "chimera" | null;
  /**
   * Microbatches in an iteration. Without it 4 times the devices in a row: `pipeline`, or as many as there may be,
   * those of the cluster divided by `tensor` and `data`, and no more than layers.
   */
  microbatches?: number | null;
  /** Stages a device: 2 where they are interleaved or come back in a V, else 1. */
  virtual?: number | null;
  /** Devices in a row; as many as pay without it. */
  pipeline?: number | null;
  /** Devices among which each layer is cut. */
  tensor?: number;
  /** Replicas of the pipeline. */
  data?: number;
  /** Devices that share the tokens of every sequence. */
  context?: number;
  /** Devices, of all replicas, among which the experts of a layer are dealt out. */
  expert?: number;
  /**
   * What devices with the same layers share out: optimizer states (zero-1), gradients too (zero-2), weights too
   * (zero-3).
   */
  sharding?: "none" | "zero-1" | "zero-2" | "zero-3";
  /** What backward passes compute again: scores of attention (selective), or all of a layer but its input (full). */
  recompute?: "none" | "selective" | "full";
  /**
   * Decoder layers of every stage, the first of each, that backward passes compute again with `recompute` full; all of
   * them without it.
   */
  recompute_layers?: number | null;
  /**
   * Layers of every stage as they run now, on devices in the order of the cluster, to be reported beside the plan
   * found, which is never slower where this one fits: a layout of Megatron-LM (`Ettt|(tt|)*14,ttL`), `parts` of
   * DeepSpeed (`[0, 4, 9]`), decoder layers as in `VLLM_PP_LAYER_PARTITION` (`8,8,9,7`), or the text of a script or of
   * JSON that states one of them.
   */
  layout?: string | null;
  /** Device of every layer or operator that must go there, both by name. */
  pinned?: Record<string, string>;
  /**
   * Placement to improve, which the answer is never worse than: a report, or another object with its `stages` of `ops`
   * and `devices`, or the device of every layer or operator by name.
   */
  start?: Record<string, unknown> | null;
}

/**
 * Hold a stage: its layers or operators, the devices of its position, and its seconds for one microbatch.
 * `devices[d][t]` are the ranks of d replicas cut t ways, `device` is the first of them. `compute_s` are forward and
 * backward pass, `communication_s` all messages at both ends of the stage, of the slowest replica. `memory_bytes` is
 * the most that a device of the position holds, with all of its stages, `capacity_bytes` what the smallest of them has,
 * None without an end.
 */
export interface PlacedStage {
  device: string;
  ops: string[];
  compute_s: number | null;
  communication_s: number | null;
  memory_bytes: number | null;
  capacity_bytes: number | null;
  devices: string[][];
}

/**
 * Answer which layers or operators of a model run on which devices of a cluster, all times in seconds. In the mode
 * chain, `stages` are in order; with v `virtual` stages a device, number j runs at position j mod p, under zb-v and
 * dualpipe-v at j and, on the way back, at 2 p - 1 - j; under chimera stage j of p is also at p - 1 - j, and has the
 * seconds and bytes of position j with both its stages, of which each runs half of the microbatches. `bottleneck_s` is
 * the largest load of a position for one microbatch, messages not hidden behind passes, and `lower_bound_s` a lower
 * bound on that of all plans of the same order of layers. With a `schedule`, `iteration_s` is its simulated time for
 * all `microbatches`, `iteration_bound_s` a lower bound on those of all plans, and `bubble` the share of it in which
 * devices wait. `uniform_..` are the figures of as many layers in every stage, on devices in the order of the cluster,
 * None where they cannot send to each other; memory and pins play no part in it, and `uniform_feasible` says whether it
 * keeps to them, None where that is not known. `start_..` are the figures of the plan started from, and `moved` how
 * many of its layers or operators have other devices now, None without one. `given` is what the plan of a `layout`
 * comes to, None without one. Without a schedule, memory is parameters alone. With the `objective` latency, `latency_s`
 * is the time of a microbatch alone, forward through all stages, and `latency_bound_s` a lower bound on that of all
 * plans; with cache, `serving` has the sequences that fit at once. `serving` also has what a model that serves comes to
 * beside layers cut in proportion to memory, None of others. In the mode dag there is a stage for every device that
 * holds operators, and `uniform_..` are the figures of as many colocation groups on every accelerator. Bounds are on
 * all placements of the same kind: `lower_bound_s` on the bottleneck and `latency_bound_s` on `latency_s`, the makespan
 * of one microbatch, both None for the `objective` throughput. `optimal` says that what was minimized, the iteration
 * with a schedule, else the bottleneck or what the `objective` names, meets its bound. `progress` has the cost that
 * each step of the search reached, `links` the bytes between devices in an iteration, `seconds` is wall time,
 * `sampling` what a sampler drew, None for other solvers, and `times` are the shares of what layers compute by where
 * their times come from, None where the model states them. Where no plan is possible, figures are None, stages empty,
 * and `violations` say what cannot be met. `deployment` holds the plan itself, `arrangement` that of operators, and
 * neither is serialised.
 */
export interface PlacementReport {
  schema: "tiger.placement/1";
  mode: "chain" | "dag";
  objective: "throughput" | "latency" | "both" | "cache" | null;
  stages: PlacedStage[];
  bottleneck_s: number | null;
  iteration_s: number | null;
  bubble: number | null;
  uniform_bottleneck_s: number | null;
  uniform_iteration_s: number | null;
  uniform_feasible: boolean | null;
  start_bottleneck_s: number | null;
  start_iteration_s: number | null;
  start_latency_s: number | null;
  moved: number | null;
  lower_bound_s: number | null;
  iteration_bound_s: number | null;
  latency_s: number | null;
  latency_bound_s: number | null;
  serving: ServingFigures | null;
  optimal: boolean;
  feasible: boolean;
  violations: Violation[];
  remedies: Remedy[];
  given: GivenLayout | null;
  schedule: "gpipe" | "1f1b" | "interleaved" | "zero-bubble" | "zb-v" | "dualpipe-v" | "chimera" | null;
  microbatches: number | null;
  virtual: number;
  solver: string;
  seed: number;
  links: Link[];
  progress: Stage[];
  warnings: string[];
  sampling: SamplingReport | null;
  times: SourceShares | null;
  seconds: number;
}

/** Show a placement: rows of devices, and what each takes for one microbatch. */
export interface PlacementView {
  schema: "tiger.view/1";
  kind: "placement";
  rows: Row[];
  compute_s: (number | null)[];
  communication_s: (number | null)[];
  timeline: TimelineView | null;
  memory: MemoryView;
  traffic: TrafficView;
}

/**
 * Answer by which degrees, microbatches and schedule a model runs on a cluster in the least simulated time. `ranked`
 * are the best plans, the first of which `placement` reports in full; `heuristic` is the one that people write by hand,
 * None where that does not fit, and `gain` how many times as long that takes. `given` is the plan that somebody has,
 * None without one. `pruned` are the choices of which no plan was simulated, by reason, of `choices` in all. No plan by
 * any choice is below `lower_bound_s`. `batch` is what an iteration runs, in sequences or in microbatches of the model.
 * `sampling` is what a sampler drew to order devices in all plans, None for other solvers. Of a `sweep` it reports the
 * batch with most throughput, and the best plan of every batch beside that.
 */
export interface PlanReport {
  schema: "tiger.plan/1";
  degrees: Degrees | null;
  batch: number;
  iteration_s: number | null;
  tokens_per_s: number | null;
  lower_bound_s: number | null;
  optimal: boolean;
  gain: number | null;
  heuristic: RankedPlan | null;
  given: GivenPlan | null;
  feasible: boolean;
  violations: Violation[];
  remedies: Remedy[];
  ranked: RankedPlan[];
  pruned: RuledOut[];
  choices: number;
  placement: PlacementReport | null;
  seed: number;
  islands: number;
  sampling: SamplingReport | null;
  sweep: SweptPlan[];
  progress: Stage[];
  warnings: string[];
  seconds: number;
}

/** Ask by which degrees of parallelism, microbatches and schedule a cluster trains a model quickest. */
export interface PlanRequest {
  /**
   * Table of `layers` with optional `edges` and `tied` groups, the shape of a `transformer`, the text of a PipeDream
   * profile as `graph`, the `config.json` of a model on Hugging Face, a name such as `llama-3-70b` or `deepseek-v3`, or
   * a specification `transformer:layers=24,..`. Times are seconds of one microbatch; of a shape, by a roofline of the
   * types of devices (an H100 where no type is stated), or at its `flops` a second on a device of speed 1. With `serve`
   * it has no backward pass, and memory is weights and KV cache. In the mode dag, `nodes` and `edges` of
   * dnn-partitioning in ms, a table of `operators` with `edges` in seconds, or a `graph`. Quantities are bytes and
   * seconds, or text with a unit such as `80GB` or `3ms`; those of dnn-partitioning and a `graph` are numbers alone.
   * All of these may also be a file, as `{file, text}`: its name, whose ending says what it is, and its text. A model
   * that is a string is never opened as a file.
   */
  model: string | LayerTable | Transformer | PipeDreamProfile | Layer[] | DnnPartitioningGraph | OperatorTable | FileText | UploadReference;
  /**
   * Where the times of a transformer come from: a file of measured operations, `{file, text}` with a name that ends in
   * `.csv`, an object of `factors`, as `tiger calibrate` writes them, or `aiconfigurator` for the tables of that
   * package, where the service has it. A roofline of the devices without it.
   */
  costs?: Record<string, unknown> | string | null;
  /**
   * The type that products are computed in; fp8 keeps weights in bf16 beside copies in fp8. As the model states it
   * without this.
   */
  precision?: "fp8" | "bf16" | "fp16" | "fp32" | null;
  /** What the optimizer keeps of a parameter: two moments in fp32, in bf16 or in 8 bits, or momentum. */
  optimizer?: "adam" | "adam-bf16" | "adam-8bit" | "sgd";
  /** The type in which gradients are added up and sent; fp16 for fp16 without it, else fp32. */
  gradients?: "fp16" | "bf16" | "fp32" | null;
  /** Has tensor-parallel devices share all activations, norms and dropout included. */
  sequence_parallel?: boolean;
  /**
   * Has tensor-parallel devices send while products run, which lose this share of their speed meanwhile; they wait for
   * messages without it.
   */
  overlap_tensor?: number | null;
  /**
   * Has messages between stages go on behind passes, which lose this share of their speed meanwhile, as with
   * Megatron-LM's interleaved schedule; both ends wait for messages without it.
   */
  overlap_pipeline?: number | null;
  /**
   * Tokens of a sequence in training; as the model states it without this, and 4,096 or fewer of a configuration of
   * Hugging Face.
   */
  sequence?: number | null;
  /**
   * Sequences that are answered at once, of a model that serves instead of learning: a device holds its weights, as its
   * checkpoint has them, and the keys and values of so many sequences.
   */
  serve?: number | null;
  /**
   * Bytes per second at which a device of speed 1 copies activations to its host and back; they are not offloaded
   * without it.
   */
  offload?: number | null;
  /** Name of a solver, see `GET /solvers`. */
  solver?: string;
  /** The same request with the same seed has the same answer. */
  seed?: number;
  /** Multiplies the iterations of the search. */
  effort?: number;
  /** Seconds after which the search ends early. */
  time_limit_s?: number | null;
  /**
   * Searches side by side, each with the effort, that exchange their best; the answer depends on how many there are.
   */
  islands?: number;
  /**
   * Sequences of a transformer that is stated by its shape, else microbatches, that all replicas run together in an
   * iteration; 4 a device without it.
   */
  batch?: number | null;
  /** Devices in a row; searched over without it. */
  pipeline?: number | null;
  /** Devices among which each layer is cut; searched over without it. */
  tensor?: number | null;
  /** Replicas of the pipeline; searched over without it. */
  data?: number | null;
  /** Devices that share the tokens of every sequence; searched over without it, with 4,096 tokens a device or more. */
  context?: number | null;
  /** Devices, of all replicas, among which the experts of a layer are dealt out; searched over without it. */
  expert?: number | null;
  /**
   * What devices with the same layers share out: optimizer states (zero-1), gradients too (zero-2), weights too
   * (zero-3); searched over without it.
   */
  sharding?: "none" | "zero-1" | "zero-2" | "zero-3" | null;
  /**
   * What backward passes compute again: scores of attention (selective), or all of a layer but its input (full);
   * searched over without it.
   */
  recompute?: "none" | "selective" | "full" | null;
  /**
   * Decoder layers of every stage, the first of each, that backward passes compute again with `recompute` full, which
   * it states as well; all of them without it.
   */
  recompute_layers?: number | null;
  /** The schedule; searched over without it. */
  schedule?: "gpipe" | "1f1b" | "interleaved" | "zero-bubble" | "zb-v" | "dualpipe-v" | "chimera" | null;
  /** Search only over schedules that this framework runs; over all without it. */
  framework?: "megatron" | "deepspeed" | "vllm" | "sglang" | "llama.cpp" | "torch" | null;
  /** Stages a device where they are interleaved; searched over without it. */
  virtual?: number | null;
  /** Sequences in a microbatch; searched over without it. */
  microbatch?: number | null;
  /**
   * The plan that you have, such as
   * `tp=4,pp=8,vp=5,dp=2,cp=1,ep=1,mbs=1,gbs=128,sharding=zero-1,recompute=full,schedule=interleaved`, to be reported
   * beside the plans found: as many layers in every stage, devices in the order of the cluster, and what it leaves out
   * as frameworks have it.
   */
  given?: string | null;
  /** How many of the best plans are reported. */
  top?: number;
  /**
   * Specification such as `dgx:2`, or an object: `devices` with `links` or uniform bandwidth and latency, `machines`
   * with their networks, `hosts` (a network, as a file that `POST /assign` takes) with a `machine` inside each and
   * `networks` by level, `nvidia_smi_topo`, `nccl_topo` or `nccl_tests`, or a file of devices as `{file, text}`, which
   * a `machine` may be too: its name, whose ending says what it is, and its text. Quantities are bytes, bytes/s and
   * seconds, or text with a unit such as `80GB`, `200Gb/s` or `25us`. A cluster that is a string is never opened as a
   * file.
   */
  cluster: string | DeviceTable | MachineTable | HostTable | NvidiaMachine | NcclMachine | MeasuredMachine | FileText | UploadReference;
}

/** Hold a plan: stage j has layers cuts[j] to cuts[j + 1] - 1, and runs on device j. */
export interface PlanStated {
  /** Rising numbers of layers from 0 to how many there are. */
  cuts: number[];
  /** Names of devices in a row, one a stage. */
  devices: string[];
}

/** Say why a request was refused, or what failed; a job has that of the request which it came from. */
export interface ProblemBody {
  type: string;
  /** The phrase of the status. */
  title: string;
  status: number;
  detail: string;
  /** What is used up, where that is the reason (429). */
  quota?: string | null;
  /** How much of the quota is used. */
  used?: number | null;
  limit?: number | null;
  left?: number | null;
  /** Seconds until there is more of the quota, or until asking again makes sense. */
  resets_s?: number | null;
  /** The fields at fault, where there are any. */
  errors?: FieldErrorBody[];
  [name: string]: unknown;
}

/** Say how many processor seconds are used of a quota, and how many are left; null where there is no quota. */
export interface ProcessorQuotaBody {
  used: number;
  limit: number | null;
  left: number | null;
}

/** Say how far a job is; a figure is null where it is not known, and others may follow. */
export interface ProgressBody {
  stage?: string | null;
  /** The best so far; once a job has ended, its report counts. */
  cost?: number | null;
  /** No answer can cost less. */
  bound?: number | null;
  /** How much of the work is done, from 0 to 1. */
  fraction?: number | null;
  [name: string]: unknown;
}

/** Say how many are used of a quota, and how many are left; both bounds are null where there is no quota. */
export interface QuotaBody {
  used: number;
  limit: number | null;
  left: number | null;
}

/**
 * Hold what the best plan by some degrees comes to, and `why` it is where it is. `memory_share` is the part of its
 * memory that the fullest device holds, 0 where memory has no end, `bound_s` a lower bound for all plans by the same
 * degrees. `searched` says that these degrees were searched as a placement is, and not only simulated with a few plans.
 */
export interface RankedPlan {
  pipeline: number;
  tensor: number;
  data: number;
  schedule: "gpipe" | "1f1b" | "interleaved" | "zero-bubble" | "zb-v" | "dualpipe-v" | "chimera";
  virtual: number;
  microbatches: number;
  microbatch: number | null;
  context: number;
  expert: number;
  sharding: "none" | "zero-1" | "zero-2" | "zero-3";
  recompute: "none" | "selective" | "full";
  recompute_layers: number | null;
  iteration_s: number;
  memory_share: number;
  bubble: number;
  breakdown: Breakdown;
  bound_s: number;
  searched: boolean;
  tokens_per_s: number | null;
  why: string;
}

/** Say that the database and the workers can be used, and so all routes. */
export interface ReadyBody {
  database: boolean;
  workers: boolean;
  /**
   * What each route does: all, less (small solves at once without the database, stored jobs without the workers), or
   * nothing.
   */
  routes: Record<string, "available" | "limited" | "unavailable">;
}

/**
 * Describe a rebalancer: the plan in use, and what `tiger.Rebalancer.restore` goes on from. Times of layers are those
 * last measured, of one microbatch on a device of speed 1; before the first step they are those of the model. Moments
 * are seconds since 1970.
 */
export interface RebalancerBody {
  id: string;
  /** How many steps it has taken. */
  steps: number;
  created_s: number;
  /** When it will be forgotten, unless there is another step before. */
  expires_s: number;
  /** Simulated seconds of an iteration; null without a plan. */
  iteration_s: number | null;
  /** No cuts of layers on these devices are quicker. */
  lower_bound_s: number | null;
  /** Stage j has layers cuts[j] to cuts[j + 1] - 1. */
  cuts: number[];
  /** The device of each stage. */
  devices: string[];
  /** Devices that are gone. */
  lost: string[];
  microbatches: number;
  forward_s: number[];
  backward_s: number[];
}

/** Ask for a rebalancer of a pipeline, which keeps its plan or moves layers as their times change. */
export interface RebalancerRequest {
  /**
   * Table of `layers` with optional `edges` and `tied` groups, the shape of a `transformer`, the text of a PipeDream
   * profile as `graph`, the `config.json` of a model on Hugging Face, a name such as `llama-3-70b` or `deepseek-v3`, or
   * a specification `transformer:layers=24,..`. Times are seconds of one microbatch; of a shape, by a roofline of the
   * types of devices (an H100 where no type is stated), or at its `flops` a second on a device of speed 1. With `serve`
   * it has no backward pass, and memory is weights and KV cache. In the mode dag, `nodes` and `edges` of
   * dnn-partitioning in ms, a table of `operators` with `edges` in seconds, or a `graph`. Quantities are bytes and
   * seconds, or text with a unit such as `80GB` or `3ms`; those of dnn-partitioning and a `graph` are numbers alone.
   * All of these may also be a file, as `{file, text}`: its name, whose ending says what it is, and its text. A model
   * that is a string is never opened as a file.
   */
  model: string | LayerTable | Transformer | PipeDreamProfile | Layer[] | DnnPartitioningGraph | OperatorTable | FileText | UploadReference;
  /** The schedule that is simulated. */
  schedule?: "1f1b" | "gpipe";
  /** Microbatches in an iteration; 4 a stage. */
  microbatches?: number | null;
  /** Devices in a row; as many as pay without it. */
  pipeline?: number | null;
  /** Iterations between two measurements. */
  iterations?: number;
  /** The least share of time that moves have to save. */
  threshold?: number;
  /** `exact` by dynamic programming, or `diffusion` among neighbours. */
  balancer?: "exact" | "diffusion";
  /**
   * Specification such as `dgx:2`, or an object: `devices` with `links` or uniform bandwidth and latency, `machines`
   * with their networks, `hosts` (a network, as a file that `POST /assign` takes) with a `machine` inside each and
   * `networks` by level, `nvidia_smi_topo`, `nccl_topo` or `nccl_tests`, or a file of devices as `{file, text}`, which
   * a `machine` may be too: its name, whose ending says what it is, and its text. Quantities are bytes, bytes/s and
   * seconds, or text with a unit such as `80GB`, `200Gb/s` or `25us`. A cluster that is a string is never opened as a
   * file.
   */
  cluster: string | DeviceTable | MachineTable | HostTable | NvidiaMachine | NcclMachine | MeasuredMachine | FileText | UploadReference;
  /** The plan in use; the best by the times of the model without it. */
  plan?: PlanStated | null;
}

/**
 * Hold an option and its value, what it saves on the fullest device in bytes, and whether all devices then `fit`. That
 * is for as many layers in every stage, with devices in order.
 */
export interface Remedy {
  option: string;
  value: string;
  saved_bytes: number;
  fits: boolean;
}

/** Ask for a mapping after a change, in which few tasks move away from that of a job. */
export interface ReplanRequest {
  /** Nodes that hold no tasks any more, by their names in the hardware; they forward traffic. */
  lost_nodes?: string[];
  /** Nodes of the hardware that may hold tasks from now on, which the allocation left out. */
  added_nodes?: string[];
  /**
   * Other hardware in place of that of the job, with its allocation and running jobs, as `POST /assign` takes it; nodes
   * of the same name are taken to be the same.
   */
  topology?: string | HardwareGraph | FileText | UploadReference | null;
  /** Tasks that are gone, with their traffic. */
  lost_tasks?: string[];
  /** Tasks that are new. */
  added_tasks?: AddedTasks | null;
  /** Edges whose `weight` is another, or that are new: `source`, `target`, `weight`; 0 for none. */
  traffic?: TaskEdge[];
  /** The rule from now on, that of the job without it: `capacity` where fewer nodes than tasks are left. */
  rule?: "one-to-one" | "capacity" | null;
  /** Most tasks that move beyond those that have to; none without it and `move_cost`. */
  max_moves?: number | null;
  /** What to move a task costs that might stay, in the unit of the cost. */
  move_cost?: number | null;
  /** Search effort, that of the job without it. */
  effort?: number | null;
  /** Seed of the search, that of the job without it. */
  seed?: number | null;
  /** Seconds to search, those of the job without it. */
  time_limit_s?: number | null;
}

/**
 * Answer a problem. `cost` is recomputed in float64 from `mapping`, never read off a sampler's energy; it is None, and
 * the mapping empty, where nothing feasible exists, and then `violations` names what cannot be met. `metrics` holds
 * dilation, max link load and makespan of the mapping, whatever was minimized. `objective` is None where that was the
 * cost; otherwise it has the objective's value and bound, `optimal` says that these meet, while `lower_bound` and `gap`
 * remain those of the cost, and are None for multicasts, where the cost is that of a graph that stands for them. `gap`
 * is (cost - lower_bound) / cost, 0 when both are 0, None without a cost or a bound above 0. `verdict` compares with
 * the best simple order and the mapping started from, None where nothing is feasible; it is to keep that order where
 * the gain is a smaller part than `threshold`. `moved` is how many tasks have left the mapping started from, None
 * without one, and at most `max_moves` may; with such a limit it is compared with that mapping alone. After a change
 * `moved` counts those that have left the mapping in use before it, where each that might have stayed costs
 * `move_cost`, if that is given, and `moves` says where every task goes that is elsewhere or new, and why. `free_cost`
 * is that of a mapping found without the rule that the ranks of every host are consecutive, where it held. `sampling`
 * says what a sampler drew and is worth beside coin flips, None for other solvers. `emitted` is the text for a launcher
 * where one was named. Costs are in the problem's own unit, `seconds` is wall time. As many `islands` searched side by
 * side. JSON has all of this, by the schema `tiger.report/1`, but for the `problem` and its `routing`, which `emit` and
 * pictures need.
 */
export interface Report {
  schema: "tiger.report/1";
  mapping: Record<string, string>;
  cost: number | null;
  compute_cost: number | null;
  communication_cost: number | null;
  baseline_cost: number | null;
  baselines: Baselines;
  baseline_max_link_load: number | null;
  lower_bound: number | null;
  gap: number | null;
  optimal: boolean;
  objective: Objective | null;
  max_moves: number | null;
  moved: number | null;
  move_cost: number | null;
  moves: TaskMove[];
  threshold: number;
  free_cost: number | null;
  verdict: Verdict | null;
  feasible: boolean;
  violations: Violation[];
  solver: string;
  rule: string;
  seed: number;
  islands: number;
  metrics: Record<string, number>;
  links: LinkLoad[];
  stages: Stage[];
  warnings: string[];
  sampling: SamplingReport | null;
  emitted: string | null;
  seconds: number;
}

/**
 * Hold what a placement makes of a transition from layer to layer, on average, on both parts of the tokens. `crossing`
 * is the share of transitions that change device, `hops` their mean weight: 0 within a device, 1 over the widest links,
 * more over others; means over replicas, which get tokens alike. `held_out_..` are of tokens that the placement was not
 * made for, None without any.
 */
export interface RoutingCost {
  crossing: number;
  hops: number;
  held_out_crossing: number | null;
  held_out_hops: number | null;
}

/**
 * Show a position of a pipeline, or a device of the mode dag: how many layers or operators it runs, from which on.
 * `name` is short, `devices` are all of them: tensor-parallel ranks next to each other, then replicas.
 */
export interface Row {
  name: string;
  devices: string[];
  operators: number;
  first: string;
  last: string;
}

/**
 * Hold how many choices a bound ruled out, the `closest` of them, and `why` in words. `bound_s` is what the closest
 * takes at the least, None where memory or links are the reason, and `need_bytes` what it needs on some device, None
 * where they are not.
 */
export interface RuledOut {
  reason: string;
  choices: number;
  closest: Degrees | null;
  bound_s: number | null;
  need_bytes: number | null;
  why: string;
}

/**
 * Say what a sampler drew, and what as many random reads come to by the same repair and polish. Of `reads` in `calls`
 * the share `feasible_share` was feasible as it came (None without reads); `access_time_s` are the seconds on a quantum
 * computer, None where the sampler says nothing of them. Of every tenth window, and of every eighth round on a whole
 * problem, from the second on, the `compared_reads` are set beside as many bits from coin flips, which never become the
 * answer: `cost_of_reads` and `cost_of_control`, of operators their largest load in seconds. None where nothing was
 * compared, as of circuits and of orders of devices, whose QUBOs have units of their own. Where `estimated`, nothing
 * was submitted: calls and times are those of simulated annealing in the machine's place.
 */
export interface SamplingReport {
  calls: number;
  reads: number;
  feasible_share: number | null;
  access_time_s: number | null;
  compared_reads: number;
  cost_of_reads: BestReads | null;
  cost_of_control: BestReads | null;
  estimated: boolean;
}

/**
 * Hold the seconds of a microbatch alone and of a steady pipeline, and how many sequences fit at once. `sequences` is
 * None without a cache that is known, `most_sequences` an upper bound on those of all plans, None unless as many as can
 * be were asked for. `split` is what is compared with, and `gain` how many times as good as it the plan is in what was
 * asked for, None where the split does not fit. `experts_on_cpu` is None unless asked for.
 */
export interface ServingFigures {
  latency_s: number;
  bottleneck_s: number;
  sequences: number | null;
  most_sequences: number | null;
  split: MemorySplit;
  gain: number | null;
  experts_on_cpu: ExpertsOnCpu | null;
}

/** Say what part of a link other jobs use. */
export interface ShareBody {
  /** A node. */
  a: string;
  /** The node at the other end. */
  b: string;
  /** The part of the bandwidth in use. */
  share: number;
}

/**
 * Hold sums over layers of the largest load over speed, means over some batches, by how replicas share tokens. With
 * `equal` shares, with the shares `fixed` that the report has, with shares `solved` for each batch, and the `mean` of
 * devices, which none is below.
 */
export interface SharedLoads {
  equal: number;
  fixed: number;
  solved: number;
  mean: number;
}

/** Describe a solver. */
export interface SolverBody {
  name: string;
  kind: "portfolio" | "search" | "sampler";
  description: string;
}

/** List the solvers. */
export interface SolversBody {
  solvers: SolverBody[];
}

/**
 * Hold the shares of the seconds that layers compute, by where these come from; they add up to 1. Those `measured` are
 * rows of a table, `interpolated` between rows, `extrapolated` beyond them, `counted` by a roofline.
 */
export interface SourceShares {
  measured: number;
  interpolated: number;
  extrapolated: number;
  counted: number;
}

/**
 * Record one stage: its wall seconds, figures of its own in `detail`, and the cost of the best mapping at its end. The
 * cost is infinite, null in JSON, before anything feasible is known; the figures stand beside it there. Stages towards
 * another objective have its value as `value`; the cost may rise from one to the next.
 */
export interface Stage {
  name: string;
  cost: number | null;
  seconds: number;
  [name: string]: unknown;
}

/** Tell a rebalancer one thing, which it decides upon. */
export interface StepRequest {
  /**
   * Seconds that each layer, or each stage of the plan in use, took for one microbatch: of both passes together, or two
   * arrays, of the forward and of the backward ones.
   */
  loads?: number[] | number[][];
  /** A device that is gone for good: plan without it. */
  lost?: string | null;
  /** Seconds that an iteration may take: move to as few devices as that needs. */
  target_s?: number | null;
}

/**
 * Hold the best plan of one batch of a sweep, None where none is `feasible`. `batch_per_s` is how much of the batch
 * runs in a second: sequences, or microbatches of models without a shape. `seconds` is how long the search took.
 */
export interface SweptPlan {
  batch: number;
  feasible: boolean;
  degrees: Degrees | null;
  iteration_s: number | null;
  batch_per_s: number | null;
  tokens_per_s: number | null;
  bubble: number | null;
  memory_share: number | null;
  lower_bound_s: number | null;
  seconds: number;
}

/** Describe a device as a Target of Qiskit. */
export interface Target {
  num_qubits: number;
  gates: TargetGate[];
  measure?: TargetMeasurement[];
  qubits?: TargetQubit[];
}

/** Describe a gate on the qubits of a device; errors are from 0 to 1, times in seconds. */
export interface TargetGate {
  name: string;
  qubits: number[];
  error?: number;
  duration?: number;
}

/** Describe the measurement of a qubit; errors are from 0 to 1, times in seconds. */
export interface TargetMeasurement {
  qubit: number;
  error?: number;
  duration?: number;
}

/** Describe how long a qubit keeps its state, in seconds. */
export interface TargetQubit {
  qubit: number;
  t1?: number;
  t2?: number;
}

/** Describe what one task sends another; the weight is the traffic. */
export interface TaskEdge {
  source: number | string | unknown[];
  target: number | string | unknown[];
  weight?: number;
}

/** Describe tasks as networkx writes a graph in node-link form, with edges, hyperedges or both. */
export interface TaskGraph {
  directed?: boolean;
  multigraph?: boolean;
  nodes: TaskNode[];
  edges?: TaskEdge[];
  hyperedges?: TaskHyperedge[];
}

/** Describe tasks that all get one message. */
export interface TaskHyperedge {
  tasks: (number | string | unknown[])[];
  volume?: number;
}

/**
 * Say that a task goes `after`wards to another node than `before`, None for a new task, and why. It is `new`, its node
 * is `lost`, it is pinned elsewhere or `forbidden` there, there is too little `room` for all that were there, or the
 * mapping `gain`s by it.
 */
export interface TaskMove {
  task: string;
  before: string | null;
  after: string;
  why: "new" | "lost" | "forbidden" | "room" | "gain";
}

/** Describe a task. */
export interface TaskNode {
  id: number | string | unknown[];
  work?: number;
  memory?: number;
}

/** Show a task graph, its edges by their traffic. */
export interface TasksView {
  names: string[];
  x: number[];
  y: number[];
  counts: number[];
  a: number[];
  b: number[];
  weight: number[];
  directed: boolean;
  total: number;
  total_edges: number;
  schema: "tiger.view/1";
  kind: "tasks";
}

/**
 * Show when rows are busy in an iteration of the slowest replica, or for one microbatch of operators. `stage` is the
 * stage of a pass or the number of an operator, it and `microbatch` are counted from 0 and -1 where there is none. Of a
 * `total` beyond 20,000 those are shown that fill the dots of a picture, without messages.
 */
export interface TimelineView {
  schedule: string;
  iteration_s: number;
  bubble: number;
  row: number[];
  kind: string[];
  stage: number[];
  microbatch: number[];
  start_s: number[];
  end_s: number[];
  thinned: boolean;
  total: number;
}

/**
 * Hold how the replicas of a map share tokens, and what that makes of its largest loads. `slots[layer]` is the share of
 * its expert's tokens that each slot gets at best for mean loads, in the order of the report's `slots`. `given` are
 * loads on the `batches` that were given, `drawn` on those drawn around them, on which the map is judged and was not
 * made.
 */
export interface TokenShares {
  batches: number;
  slots: number[][];
  given: SharedLoads;
  drawn: SharedLoads;
}

/** List the kinds of topology. */
export interface TopologiesBody {
  topologies: TopologyBody[];
}

/** Describe a kind of topology and the syntax of its specification. */
export interface TopologyBody {
  name: string;
  syntax: string;
  description: string;
  example: string;
}

/** Show nodes with their `slots`, 0 for a switch, and links of a length `weight` and a `bandwidth`, if stated. */
export interface TopologyView {
  names: string[];
  x: number[];
  y: number[];
  counts: number[];
  a: number[];
  b: number[];
  weight: number[];
  directed: boolean;
  total: number;
  total_edges: number;
  slots: number[];
  bandwidth: (number | null)[];
}

/** Show the bytes that an iteration sends between devices, both directions together, the 8,000 largest at most. */
export interface TrafficView {
  names: string[];
  a: number[];
  b: number[];
  bytes: (number | null)[];
}

/** Describe a transformer by its shape. */
export interface Transformer {
  transformer: TransformerShape;
}

/** Describe the numbers of a transformer, as `tiger.training.models.shape.Shape` has them. */
export interface TransformerShape {
  layers: number;
  hidden: number;
  heads: number;
  vocabulary: number;
  sequence: number;
  batch?: number;
  ffn?: number;
  kv_heads?: number;
  head_dim?: number;
  experts?: number;
  top_k?: number;
  gated?: boolean;
  tied?: boolean;
  biases?: boolean;
  kv_lora_rank?: number;
  q_lora_rank?: number;
  rope_head_dim?: number;
  v_head_dim?: number;
  window?: number;
  full_step?: number;
  dense_layers?: number;
  dense_ffn?: number;
  expert_step?: number;
  shared_experts?: number;
  mtp_layers?: number;
  dtype?: "fp8" | "bf16" | "fp16" | "fp32";
  attention?: "flash" | "full";
  serve?: boolean;
  weights?: "fp32" | "bf16" | "fp16" | "fp8" | "int8" | "int4" | "mxfp4" | "q8_0" | "q6_k" | "q5_k" | "q4_k" | "q4_0" | "q3_k" | "q2_k";
  kv?: "bf16" | "fp16" | "fp8" | "int8";
  flops?: number;
}

/** Describe a file that was uploaded; times are seconds since 1970. */
export interface UploadBody {
  /** The SHA-256 of its bytes, by which requests refer to it. */
  id: string;
  name: string;
  bytes: number;
  /** What it takes as it is kept, compressed. */
  kept_bytes: number;
  created_s: number;
  /** When it was last uploaded, or a job submitted that uses it. */
  used_s: number;
  /** How many jobs use it that are kept. */
  jobs: number;
}

/** Refer to a file that was uploaded, by its id; the name, whose ending says what it is, is its own if left out. */
export interface UploadReference {
  upload: string;
  file?: string;
}

/** List uploads, the newest first, and where the next page is. */
export interface UploadsBody {
  uploads: UploadBody[];
  next: string | null;
}

/** Say what whoever asks uses now, and used on the last days. */
export interface UsageBody {
  /** The account, or the first digits of the key's digest; empty without keys. */
  owner: string;
  running_jobs: QuotaBody;
  queued_jobs: QuotaBody;
  /** Bytes of bodies, reports, files, rebalancers and comparisons. */
  kept_bytes: QuotaBody;
  /** Processor seconds of workers today (UTC). */
  processor_s_per_day: ProcessorQuotaBody;
  /** Seconds until the next day, at which the processor seconds begin from zero. */
  resets_s: number;
  /** The processor seconds of each day, today first. */
  days: DayBody[];
}

/**
 * Say what a request would have solved, which is of `kind` and in order, and nothing of which is kept. `sizes` are
 * counts of what there is, such as `tasks`, `edges`, `nodes` and `slots`, or `qubits`, `gates` and `layers`. `rule`,
 * `objective` and `solver` are those in effect, None where a kind has none, and `stages` those of the first round where
 * they are known before. `at_once` says that it is little work, which is answered without a job unless one is asked
 * for. `feasible` is None where that is not decided without a search, and `violations` say what cannot be met.
 * `processor_s` and `memory_bytes` are estimates for the whole solve and for what it adds to a worker, None where none
 * were measured; a time limit bounds the former.
 */
export interface Validation {
  schema: "tiger.validation/1";
  kind: "assign" | "place" | "plan" | "experts";
  sizes: Record<string, number>;
  rule: string | null;
  objective: string | null;
  solver: string | null;
  stages: string[];
  at_once: boolean;
  feasible: boolean | null;
  violations: Violation[];
  processor_s: FigureEstimate | null;
  memory_bytes: FigureEstimate | null;
  warnings: string[];
}

/** Ask for a job by changes of a request. */
export interface VariantRequest {
  /** What the entry is called; its changes else. */
  label?: string | null;
  /**
   * A merge patch (RFC 7396) of the request: its fields take the place of those of the request, objects are merged with
   * those there, and null takes a field out.
   */
  changes?: Record<string, unknown>;
}

/**
 * Compare a mapping with the best simple order that a launcher has: in blocks, which is the scheduler's, or cyclic.
 * `metric` is what was minimized, `before` its value in the simple `order`, `after` that of the mapping and `bound`
 * what no mapping goes below, None where that is not known. `gain` is (before - after) / before, 0 when both are 0, and
 * `best_gain` what the bound leaves possible. `keep` says that there is no gain or one below the threshold, so that the
 * simple order will do, and `advice` all that in a sentence.
 */
export interface Verdict {
  metric: string;
  order: string;
  before: number;
  after: number;
  bound: number | null;
  gain: number;
  best_gain: number | null;
  keep: boolean;
  advice: string;
}

/** Ask for the picture of one thing that other requests may state. */
export interface ViewRequest {
  /** Tasks, as `POST /assign` takes them. */
  tasks?: string | TaskGraph | FileText | UploadReference | null;
  /** Hardware or a device, as `POST /assign` takes them. */
  topology?: string | HardwareGraph | FileText | UploadReference | [number, number][] | CouplingMap | Target | null;
  /** A circuit, as `POST /assign` takes it. */
  circuit?: string | null;
  /** A model, as `POST /place` takes it; `nodes` and `operators` are shown with their edges. */
  model?: string | LayerTable | Transformer | PipeDreamProfile | Layer[] | DnnPartitioningGraph | OperatorTable | FileText | UploadReference | null;
  /** A cluster, as `POST /place` takes it. */
  cluster?: string | DeviceTable | MachineTable | HostTable | NvidiaMachine | NcclMachine | MeasuredMachine | FileText | UploadReference | null;
}

/** Name a constraint that is broken or cannot be met: its `kind`, and a sentence that names tasks and nodes. */
export interface Violation {
  kind: string;
  message: string;
}

/** Describe an event of a job and how far its delivery has come; times are seconds since 1970. */
export interface WebhookBody {
  /** The `webhook-id` of every attempt to deliver it. */
  id: string;
  job_id: string;
  /** `job.done`, `job.failed` or `job.cancelled`. */
  event: string;
  /** Where it is sent. */
  url: string;
  /** Dead ones were given up, and are sent again on request. */
  status: "pending" | "delivered" | "dead";
  /** Attempts since it was queued last. */
  attempts: number;
  created_s: number;
  /** When it is sent again at the earliest; null once that is over. */
  next_s: number | null;
  /** When it was delivered or given up. */
  settled_s: number | null;
  /** The status of the last answer; null where there was none. */
  last_status: number | null;
  /** Why the last attempt had no answer. */
  last_error: string | null;
}

/** List events, the newest first, and where the next page is. */
export interface WebhooksBody {
  webhooks: WebhookBody[];
  next: string | null;
}

/** What the body of a request states. */
export interface Requests {
  "POST /assign": AssignRequest | CircuitRequest;
  "POST /comparisons": ComparisonRequest;
  "POST /experts": ExpertRequest;
  "POST /jobs/{job_id}/replan": ReplanRequest;
  "POST /place": PlaceRequest;
  "POST /plan": PlanRequest;
  "POST /rebalancers": RebalancerRequest;
  "POST /rebalancers/{rebalancer_id}/steps": StepRequest;
  "POST /views": ViewRequest;
}

/** What the body of an answer states, where that is no problem. */
export interface Answers {
  "DELETE /comparisons/{comparison_id}": unknown;
  "DELETE /jobs/{job_id}": JobBody;
  "DELETE /rebalancers/{rebalancer_id}": unknown;
  "DELETE /uploads/{upload_id}": unknown;
  "GET /comparisons": ComparisonsBody;
  "GET /comparisons/{comparison_id}": ComparisonBody;
  "GET /comparisons/{comparison_id}/table.csv": unknown;
  "GET /healthz": HealthBody;
  "GET /jobs": JobsBody;
  "GET /jobs/{job_id}": JobBody;
  "GET /jobs/{job_id}/emit": EmissionBody[];
  "GET /jobs/{job_id}/emit/{name}": string;
  "GET /jobs/{job_id}/events": unknown;
  "GET /jobs/{job_id}/files": FileBody[];
  "GET /jobs/{job_id}/files/{name}": unknown;
  "GET /jobs/{job_id}/view": MappingView | CircuitView | PlacementView;
  "GET /metrics": unknown;
  "GET /readyz": ReadyBody;
  "GET /readyz/database": Record<string, boolean>;
  "GET /readyz/workers": Record<string, boolean>;
  "GET /rebalancers/{rebalancer_id}": RebalancerBody;
  "GET /solvers": SolversBody;
  "GET /topologies": TopologiesBody;
  "GET /uploads": UploadsBody;
  "GET /uploads/{upload_id}": UploadBody;
  "GET /uploads/{upload_id}/content": unknown;
  "GET /usage": UsageBody;
  "GET /webhooks": WebhooksBody;
  "POST /assign": Report | CircuitReport | Validation | JobBody;
  "POST /comparisons": ComparisonBody;
  "POST /experts": ExpertReport | Validation | JobBody;
  "POST /jobs/{job_id}/replan": Report | JobBody;
  "POST /place": PlacementReport | Validation | JobBody;
  "POST /plan": PlanReport | Validation | JobBody;
  "POST /rebalancers": RebalancerBody;
  "POST /rebalancers/{rebalancer_id}/steps": Decision;
  "POST /uploads": UploadBody;
  "POST /views": TasksView | HardwareView | CircuitPreview | ModelView | ClusterView;
  "POST /webhooks/{webhook_id}/redeliver": WebhookBody;
}
