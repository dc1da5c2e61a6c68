import { gpuName } from '../../../base/ids.js';
import type { NodeStatus } from '../../../protocol/run-summary.js';
import { cleanText } from '../../../text/display-text.js';
import { counted } from '../../../text/numbers.js';
import { useRuns, useScreenData } from '../../model/use-model.js';
import type { FleetStatus, GpuSummary } from '../../state/port.js';
import { type Line, span, type Tone } from '../../surface/span.js';
import { progressBar } from '../../widgets/progress-bar.js';
import { type Column, Table } from '../../widgets/table.js';
import { type GpuMemory, gpuMemory, type GpuUse, runsOn, type ShownNode } from './gpu-memory.js';

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
export function GpuTable({ status, at, width, height }: TableProps & { readonly status: FleetStatus }) {
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
    { width: 4, isRight: true, least: 0, gpu: ({ utilization }) => [span(percent(utilization), 'value')] },
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

function percent(value: number | null): string {
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
export function NodeTable({ nodes, at, width, height }: TableProps & { readonly nodes: readonly ShownNode[] }) {
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
