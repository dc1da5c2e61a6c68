import { Box } from 'ink';
import { gpuName } from '../../../base/ids.js';
import { type NodeStatus, slotText } from '../../../protocol/run-summary.js';
import { cleanText } from '../../../text/display-text.js';
import { shortDuration } from '../../../text/duration.js';
import { counted, memoryReading } from '../../../text/numbers.js';
import { stateLook } from '../../model/state-look.js';
import { elapsed } from '../../model/tally.js';
import { useModel, useRuns, useScreen, useScreenData } from '../../model/use-model.js';
import type { FleetPort, FleetStatus, GpuSummary, RunSummary } from '../../state/port.js';
import { type Line, span, type Tone } from '../../surface/span.js';
import { progressBar } from '../../widgets/line-parts.js';
import { type Column, Table, tableLine } from '../../widgets/table.js';
import { Row, Rows, Section } from '../../widgets/text.js';
import type { ScreenProps } from '../screen.js';
import {
  gpuMemory,
  type GpuMemory,
  type GpuUse,
  memoryHere,
  runsOn,
  type ShownNode,
  shownNodes,
} from './gpu-memory.js';

/** The GPUs and the CPU, or the nodes of a cluster, with their usage and users. */
export function GpuScreen({ size: { width, height } }: ScreenProps) {
  const { index } = useScreen('gpus');
  const status = useModel((model) => model.status);
  const now = useModel((model) => model.now);
  const { nodes, places } = useRuns((runs) => placesOf(status, runs, { now, width }));
  const at = Math.min(index, places.length - 1);
  const chosen = places[at]!;
  // The table is shortened while the chosen row and its neighbours stay visible. A single row needs no table.
  const needed = places.length + 1;
  const table = Math.max(Math.min(needed, 5), Math.min(needed, height - chosen.rows.length - 3));
  const above = places.length === 1 && nodes.length === 0 ? 0 : table + 2;
  const others = fitting(
    places.filter((place) => place !== chosen && !place.isEmpty),
    height - above - Math.min(chosen.rows.length + 1, height - above),
  );
  const room = { at, width, height: table };
  return (
    <Box width={width} height={height} flexDirection="column" overflow="hidden">
      {above > 0 && (
        <Box marginBottom={1} flexShrink={0}>
          {nodes.length > 0 ? (
            <Section title="Nodes" right={nodeTotals(nodes)} width={width}>
              <NodeTable nodes={nodes} {...room} />
            </Section>
          ) : (
            <Section title="GPUs" right={gpuTotals(status)} width={width}>
              <GpuTable status={status} {...room} />
            </Section>
          )}
        </Box>
      )}
      <Users place={chosen} width={width} height={height - above} />
      {others.map((place) => (
        <Box key={place.title} marginTop={1} flexShrink={0}>
          <Users place={place} width={width} height={Infinity} />
        </Box>
      ))}
    </Box>
  );
}

/** A row of the table with its users. `isEmpty`: it has none. `rows`: as wide as the screen, or wider. */
type Place = {
  readonly title: string;
  readonly right: Line;
  readonly isEmpty: boolean;
  readonly rows: readonly Line[];
};

/** The users of a GPU, of the CPU or of a node in at most `height` rows. */
function Users({ place: { title, right, rows }, width, height }: { place: Place; width: number; height: number }) {
  if (height < 2) return <Row line={[span(` … ${rows.length + 1} more`, 'faint')]} />;
  const isWhole = rows.length < height;
  const shown = isWhole ? rows : rows.slice(0, Math.max(0, height - 2));
  return (
    <Section title={title} right={right} width={width}>
      <Rows lines={isWhole ? rows : [...shown, [span(` … ${rows.length - shown.length} more`, 'faint')]]} />
    </Section>
  );
}

/** As many places from the first as fit completely, with a row of space before each. */
function fitting(places: readonly Place[], height: number): readonly Place[] {
  let used = 0;
  return places.slice(0, places.findIndex(({ rows }) => (used += rows.length + 2) > height) >>> 0);
}

type Look = { readonly now: number; readonly width: number };

function placesOf(status: FleetStatus, runs: FleetPort['runs'], look: Look): { nodes: ShownNode[]; places: Place[] } {
  const nodes = shownNodes(status, runs.values());
  const machine = (): Place[] => [
    ...status.gpus.map((gpu) => gpuPlace(gpu, runsOn(gpu, runs), look)),
    cpuPlace(status, runs, look),
  ];
  return { nodes, places: nodes.length > 0 ? nodes.map((node) => nodePlace(node, look)) : machine() };
}

/** Users of a GPU: its runs, foreign processes, and invisible ones. */
function gpuPlace(gpu: GpuSummary, runs: readonly RunSummary[], look: Look): Place {
  const { hidden } = gpuMemory(gpu, runs);
  const users = [
    ...runRows(runs, look, memoryHere),
    ...gpu.foreign.map(foreignRow),
    ...(hidden > 16
      ? [remark('·', `${memoryReading(hidden)} held by processes not visible from here: ${unseen}`)]
      : []),
  ];
  return {
    title: `GPU ${gpuName(gpu.index)}${gpu.name === null ? '' : ` · ${cleanText(gpu.name)}`}`,
    right: gpu.uuid === null ? [] : [span(cleanText(gpu.uuid), 'faint')],
    isEmpty: gpu.runs.length + gpu.foreign.length === 0,
    rows: [...notes(gpu), ...(users.length === 0 ? [remark(' ', 'No processes.')] : users)],
  };
}

const unseen = 'a desktop, another container';

/** The runs on a node of a cluster, with their GPUs there. */
function nodePlace({ name, runs }: ShownNode, look: Look): Place {
  return {
    title: `Node ${cleanText(name)}`,
    right: [span(counted(runs.length, 'run'), 'dim')],
    isEmpty: runs.length === 0,
    rows: runs.length === 0 ? [remark(' ', 'No run of this supervisor is here.')] : runRows(runs, look, () => null),
  };
}

function cpuPlace({ cpu, gpus }: FleetStatus, all: FleetPort['runs'], look: Look): Place {
  const runs = [...all.values()].filter(({ slot }) => slot?.startsWith('cpu') === true);
  return {
    title: 'CPU',
    right: [span(`${cpu.busy} of ${cpu.slots} slots busy`, 'dim')],
    isEmpty: cpu.busy === 0,
    rows: [
      ...(gpus.length === 0 ? [remark(' ', noGpus)] : []),
      ...(runs.length === 0 ? [remark(' ', 'No run is on the CPU.')] : runRows(runs, look, () => null)),
    ],
  };
}

const noGpus = 'No GPU is used here: none was found, or --gpus none was given. See memrl-tui doctor.';

function notes({ drained, drainReason, leasedBy, mps, utilization, memoryUsed }: GpuSummary): Line[] {
  return [
    ...(leasedBy === null
      ? []
      : [remark('‖', `Leased by the runs in ${cleanText(leasedBy)}; it is free once they end.`)]),
    ...(drained ? [remark('‖', `Drained: ${drainReason ?? 'no new runs start on it'}. D undrains it.`)] : []),
    ...(utilization === null && memoryUsed === null ? [remark('?', 'The driver did not report it last time.')] : []),
    ...(mps ? [remark('·', 'Its runs share it through MPS.')] : []),
  ];
}

function remark(glyph: string, text: string): Line {
  return [span(` ${glyph} `, 'warn'), span(text, 'dim')];
}

type MemoryOf = (run: RunSummary) => number | null;

/** Name, memory, progress, time, slot; numbers are aligned after the longest name. */
function runRows(runs: readonly RunSummary[], { now, width }: Look, memoryOf: MemoryOf): Line[] {
  const nameWidth = Math.min(Math.max(12, width - 44), Math.max(0, ...runs.map(({ name }) => name.length)));
  const memory: Column<RunSummary> = {
    ...{ width: 9, isRight: true },
    cell: (run) => [span(textOf(memoryOf(run), memoryReading), 'value')],
  };
  const columns: Column<RunSummary>[] = [
    { gap: 1, width: 1, cell: ({ state }) => [span(stateLook[state].glyph, stateLook[state].tone)] },
    { gap: 1, width: nameWidth, cell: ({ name }) => [span(cleanText(name))] },
    ...(runs.some((run) => memoryOf(run) !== null) ? [memory] : []),
    { width: 4, isRight: true, cell: ({ progress }) => [span(textOf(progress, percent), 'value')] },
    { width: 7, isRight: true, cell: (run) => [span(textOf(elapsed(run, now), shortDuration), 'dim')] },
    { cell: (run) => [span(slotText(run), 'faint')] },
  ];
  return runs.map((run, index) => tableLine(columns, run, index));
}

function textOf<Value>(value: Value | null, words: (value: Value) => string): string {
  return value === null ? '' : words(value);
}

function percent(share: number): string {
  return `${Math.floor(share * 100)}%`;
}

function foreignRow({ pid, name, memory }: GpuSummary['foreign'][number]): Line {
  const held = memory === null ? '' : ` · ${memoryReading(memory)}`;
  const about = `  pid ${pid}${held} · not a run of this supervisor`;
  return [span(' ! ', 'warn'), span(cleanText(name), 'plain'), span(about, 'dim')];
}

function gpuTotals({ gpus }: FleetStatus): Line {
  const sum = (read: (gpu: GpuSummary) => number | null): number =>
    gpus.reduce((total, gpu) => total + (read(gpu) ?? 0), 0);
  const power = sum((gpu) => gpu.power);
  const words = [
    `${gpus.filter(({ runs }) => runs.length > 0).length} of ${gpus.length} in use`,
    `${memoryReading(sum((gpu) => gpu.memoryUsed))} of ${memoryReading(sum((gpu) => gpu.memoryTotal))}`,
    ...(power > 0 ? [`${Math.round(power)} W`] : []),
  ];
  return [span(words.join(' · '), 'dim')];
}

/** The GPUs in use on all nodes, and how many nodes start no new runs. */
function nodeTotals(nodes: readonly ShownNode[]): Line {
  const told = nodes.flatMap(({ status }) => status ?? []);
  const sum = (counts: readonly (number | null)[]) => counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  const gpus = sum(told.map((node) => node.gpus));
  const closed = told.filter(({ takesRuns }) => !takesRuns).length;
  const words = [
    ...(gpus === 0 ? [] : [`${sum(told.map((node) => node.gpusInUse))} of ${gpus} GPUs in use`]),
    ...(closed === 0 ? [] : [`${counted(closed, 'node')} without new runs`]),
  ];
  return [span(words.join(' · '), 'dim')];
}

type TableProps = { readonly at: number; readonly width: number; readonly height: number };

const sparkWidth = 12;

/** A row of the table: a GPU, or the CPU below the last one. */
type Device = GpuSummary | 'cpu';
/** `least`: minimum width of the screen for showing the column. */
type GpuColumn = Omit<Column<Device>, 'cell'> & {
  readonly least: number;
  readonly gpu: (gpu: GpuSummary) => Line;
  readonly cpu?: (cpu: FleetStatus['cpu']) => Line;
};

/** The GPUs with a row for the CPU below. */
function GpuTable({ status, at, width, height }: TableProps & { readonly status: FleetStatus }) {
  const use = useScreenData<GpuUse>('gpus');
  const memory = useRuns((runs) => (gpu: GpuSummary) => gpuMemory(gpu, runsOn(gpu, runs)));
  const shown = columnsOf(use, memory).filter(({ least }) => least <= width);
  const columns = shown.map(({ gpu, cpu, ...column }): Column<Device> => {
    const cell = (device: Device) => (device !== 'cpu' ? gpu(device) : (cpu?.(status.cpu) ?? []));
    return { ...column, cell };
  });
  const state: Column<Device> = {
    title: 'state',
    cell: (device) => (device === 'cpu' ? cpuWords(status) : stateWords(device)),
  };
  return <Table columns={[...columns, state]} items={[...status.gpus, 'cpu']} {...{ at, width, height }} />;
}

function columnsOf(use: GpuUse, memory: (gpu: GpuSummary) => GpuMemory): GpuColumn[] {
  return [
    {
      ...{ title: 'GPU', width: 5, gap: 1, isRight: true, least: 0 },
      gpu: ({ index }) => [span(gpuName(index), 'strong')],
      cpu: () => [span('CPU', 'strong')],
    },
    { title: 'model', width: 16, least: 126, gpu: ({ name }) => [span(shortModel(name), 'dim')] },
    {
      ...{ title: 'busy', width: 10, least: 88 },
      gpu: ({ utilization }) => progressBar(utilization === null ? null : utilization / 100, 10, 'accent'),
      cpu: ({ slots, busy }) => progressBar(slots === 0 ? 0 : busy / slots, 10, 'accent'),
    },
    { width: 4, isRight: true, least: 0, gpu: ({ utilization }) => [span(wholePercent(utilization), 'value')] },
    {
      ...{ title: 'last minutes', width: sparkWidth, least: 104 },
      gpu: ({ index }) => [span(gaugeSpark(use(index), sparkWidth), 'spark')],
    },
    { title: 'memory', width: 12, least: 66, gpu: (gpu) => memoryBar(gpu, memory(gpu), 12) },
    { title: 'GiB', width: 11, isRight: true, least: 0, gpu: (gpu) => [span(memoryNumbers(gpu), 'value')] },
    { title: 'heat', width: 5, gap: 1, isRight: true, least: 56, gpu: ({ temperature }) => [warm(temperature)] },
    {
      title: 'power',
      width: 5,
      gap: 1,
      isRight: true,
      least: 64,
      gpu: ({ power }) => [span(rounded(power, ' W'), 'dim')],
    },
  ];
}

/** The use of a GPU in few words. */
function stateWords({ drained, leasedBy, foreign, runs, memoryUsed, utilization, mps }: GpuSummary): Line {
  if (leasedBy !== null) return [span('leased ', 'warn'), span(`by ${cleanText(leasedBy)}`, 'dim')];
  const strangers = foreign.length === 0 ? [] : [span(` +${foreign.length} foreign`, 'warn')];
  const count = counted(runs.length, 'run');
  if (drained) return [span('drained', 'warn'), span(runs.length === 0 ? '' : ` · ${count}`, 'dim'), ...strangers];
  if (memoryUsed === null && utilization === null) return [span('no answer', 'bad')];
  const idle = foreign.length > 0 ? span('foreign processes', 'warn') : span('free', 'good');
  return [...(runs.length > 0 ? [span(count, 'busy'), ...strangers] : [idle]), span(mps ? ' · MPS' : '', 'dim')];
}

function cpuWords({ cpu, gpus, readOnly }: FleetStatus): Line {
  if (readOnly !== undefined) return [span('not known: these runs are only viewed', 'dim')];
  if (cpu.slots === 0) return [span(gpus.length > 0 ? 'not used' : 'no slots; + adds one', 'dim')];
  return [span(`${cpu.busy} of ${cpu.slots}`, cpu.busy > 0 ? 'busy' : 'good'), span(' slots busy', 'dim')];
}

/** Memory of runs, foreign processes, invisible processes, and free memory, in this order. */
export function memoryBar({ memoryTotal }: GpuSummary, { runs, foreign, hidden }: GpuMemory, width: number): Line {
  if (memoryTotal === null || memoryTotal <= 0) return [span('─'.repeat(width), 'faint')];
  const parts: [number, Tone, string][] = [
    [runs, 'accent', '━'],
    [foreign, 'warn', '═'],
    [hidden, 'dim', '═'],
  ];
  let [sum, column] = [0, 0];
  const line: Line[number][] = [];
  for (const [part, tone, glyph] of parts) {
    sum += part;
    // Any part above 0.1 % is visible if there is room for it.
    const least = part > memoryTotal / 1000 ? column + 1 : column;
    const end = Math.min(width, Math.max(least, Math.round((sum / memoryTotal) * width)));
    line.push(span(glyph.repeat(end - column), tone));
    column = end;
  }
  return [...line, span('─'.repeat(width - column), 'faint')];
}

function memoryNumbers({ memoryUsed, memoryTotal }: GpuSummary): string {
  const gib = (mib: number): string => (mib / 1024).toFixed(1);
  if (memoryTotal === null) return '';
  return `${memoryUsed === null ? '?' : gib(memoryUsed)}/${gib(memoryTotal)}`;
}

function wholePercent(value: number | null): string {
  return rounded(value, '%');
}

function rounded(value: number | null, unit: string): string {
  return value === null ? '' : `${Math.round(value)}${unit}`;
}

/** Temperature from which on GPUs throttle, in °C. */
const hot = 85;

function warm(temperature: number | null): Line[number] {
  return span(rounded(temperature, '°C'), (temperature ?? 0) >= hot ? 'warn' : 'dim');
}

/** The model without the parts that all GPUs of a maker share. */
function shortModel(name: string | null): string {
  return cleanText(name ?? '').replace(/^(NVIDIA|AMD) (GeForce )?/, '');
}

const levels = '▁▂▃▄▅▆▇';

/** The newest values of a gauge from 0 to 100 as one row of blocks, newest at the right; a missing value is a space. */
export function gaugeSpark(values: readonly (number | null)[], width: number): string {
  const drawn = values.slice(-width).map((value) => {
    if (value === null || !Number.isFinite(value)) return ' ';
    return levels[Math.round((Math.min(100, Math.max(0, value)) / 100) * (levels.length - 1))]!;
  });
  return drawn.join('').padStart(width);
}

const barWidth = 10;

/** One row for each node of a cluster. */
function NodeTable({ nodes, at, width, height }: TableProps & { readonly nodes: readonly ShownNode[] }) {
  const nameWidth = Math.min(Math.max(4, ...nodes.map(({ name }) => name.length)), Math.floor(width / 3));
  const columns: Column<ShownNode>[] = [
    { title: 'node', width: nameWidth, gap: 1, cell: ({ name }) => [span(cleanText(name), 'strong')] },
    { title: 'GPUs in use', width: barWidth + 10, cell: ({ status }) => gpuCell(status) },
    { title: 'state', cell: (node) => nodeWords(node) },
  ];
  return <Table columns={columns} items={nodes} {...{ at, width, height }} />;
}

function gpuCell(status: NodeStatus | null): Line {
  const { gpus, gpusInUse } = status ?? { gpus: 0, gpusInUse: null };
  if (gpus === 0) return [span(status === null ? '' : 'no GPU', 'dim')];
  const bar = progressBar(gpusInUse === null ? null : gpusInUse / gpus, barWidth, 'accent');
  return [...bar, span(`  ${gpusInUse ?? '?'} of ${gpus}`, 'value')];
}

function nodeWords({ runs, status }: ShownNode): Line {
  const own = runs.length === 0 ? [] : [span(counted(runs.length, 'run'), 'busy'), span(' · ', 'dim')];
  if (status === null) return [...own, span('not told of yet', 'dim')];
  return [...own, span(cleanText(status.state), status.takesRuns ? 'dim' : 'warn')];
}
