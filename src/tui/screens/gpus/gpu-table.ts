import { gpuName } from '../../../base/ids.js';
import { cleanText } from '../../../text/display-text.js';
import { counted } from '../../../text/numbers.js';
import type { GpuSummary, RunSummary } from '../../state/port.js';
import { scrollTo } from '../../widgets/scroll.js';
import { type GpuMemory, gpuMemory } from './gpu-memory.js';
import { progressBar } from '../../widgets/progress-bar.js';
import { fit, fitLine, fitRight, type Line, onBackground, span, type Tone } from '../../surface/span.js';
import type { GpuModel } from './gpu-data.js';

/** One column; `least`: minimum width of the screen for showing it. */
type Column = { readonly title: string; readonly width: number; readonly least: number; readonly cell: Cell };
type Cell = (gpu: GpuSummary, model: GpuModel) => Line;

const sparkWidth = 12;

const columns: readonly Column[] = [
  { title: 'GPU', width: 5, least: 0, cell: ({ index }) => [span(fitRight(gpuName(index), 5), 'strong')] },
  { title: 'model', width: 16, least: 126, cell: ({ name }) => [span(fit(shortModel(name), 16), 'dim')] },
  { title: 'busy', width: 10, least: 88, cell: ({ utilization }) => useBar(utilization) },
  { title: '', width: 4, least: 0, cell: ({ utilization }) => [span(fitRight(percent(utilization), 4), 'value')] },
  { title: 'last minutes', width: sparkWidth, least: 104, cell: sparkCell },
  { title: 'memory', width: 12, least: 66, cell: memoryCell },
  { title: 'GiB', width: 11, least: 0, cell: (gpu) => [span(fitRight(memoryNumbers(gpu), 11), 'value')] },
  { title: 'heat', width: 5, least: 56, cell: ({ temperature }) => [warm(temperature)] },
  { title: 'power', width: 5, least: 64, cell: ({ power }) => [span(fitRight(rounded(power, 'W'), 5), 'dim')] },
];
const gap = 2;

/** The table of GPUs with a row for the CPU below: a heading and `height - 1` rows around the chosen one. */
export function gpuTable(model: GpuModel, chosen: number, width: number, height: number): Line[] {
  const shown = columns.filter(({ least }) => least <= width);
  const { gpus } = model.status;
  const heading = shown.map(
    ({ title, width: room }) => pad(room) + (isRight(title) ? fitRight(title, room) : fit(title, room)),
  );
  const rows = height - 1;
  const top = scrollTo(chosen, 0, rows, gpus.length + 1);
  const lines = Array.from({ length: Math.max(0, Math.min(rows, gpus.length + 1 - top)) }, (_, offset): Line => {
    const gpu = gpus[top + offset];
    const line = gpu === undefined ? cpuRow(model, shown) : gpuRow(gpu, shown, model);
    const row = [...line, span('  '), ...(gpu === undefined ? cpuWords(model) : stateWords(gpu))];
    return top + offset === chosen ? onBackground(fitLine(row, width), 'selected') : fitLine(row, width);
  });
  return [fitLine([span(`${heading.join('')}${pad(gap)}state`, 'faint')], width), ...lines];
}

function isRight(title: string): boolean {
  return ['GPU', 'GiB', 'heat', 'power'].includes(title);
}

function pad(width: number): string {
  // The first column is at the edge.
  return width === 5 ? ' ' : ' '.repeat(gap);
}

function gpuRow(gpu: GpuSummary, shown: readonly Column[], model: GpuModel): Line {
  return shown.flatMap(({ width, cell }): Line => [span(pad(width)), ...cell(gpu, model)]);
}

/** The use of a GPU in few words. */
function stateWords(gpu: GpuSummary): Line {
  const { drained, leasedBy, foreign, runs } = gpu;
  if (leasedBy !== null) return [span('leased ', 'warn'), span(`by ${cleanText(leasedBy)}`, 'dim')];
  const strangers = foreign.length === 0 ? [] : [span(` +${foreign.length} foreign`, 'warn')];
  if (drained)
    return [
      span('drained', 'warn'),
      span(runs.length === 0 ? '' : ` · ${counted(runs.length, 'run')}`, 'dim'),
      ...strangers,
    ];
  return gpu.memoryUsed === null && gpu.utilization === null
    ? [span('no answer', 'bad')]
    : [
        ...(runs.length > 0 ? [span(counted(runs.length, 'run'), 'busy'), ...strangers] : idleWords(gpu)),
        ...sharing(gpu),
      ];
}

function idleWords({ foreign }: GpuSummary): Line {
  return [foreign.length > 0 ? span('foreign processes', 'warn') : span('free', 'good')];
}

function sharing({ mps }: GpuSummary): Line {
  return mps ? [span(' · MPS', 'dim')] : [];
}

/** The row of the CPU, which has only some of the columns. */
function cpuRow({ status: { cpu } }: GpuModel, shown: readonly Column[]): Line {
  return shown.flatMap(({ title, width }): Line => {
    const cell: Line =
      title === 'GPU'
        ? [span(fitRight('CPU', width), 'strong')]
        : title === 'busy'
          ? progressBar(cpu.slots === 0 ? 0 : cpu.busy / cpu.slots, width, 'accent')
          : [span(' '.repeat(width))];
    return [span(pad(width)), ...cell];
  });
}

function cpuWords({ status: { cpu, gpus } }: GpuModel): Line {
  if (cpu.slots === 0) return [span(gpus.length > 0 ? 'not used' : 'no slots; + adds one', 'dim')];
  return [span(`${cpu.busy} of ${cpu.slots}`, cpu.busy > 0 ? 'busy' : 'good'), span(' slots busy', 'dim')];
}

function useBar(utilization: number | null): Line {
  return progressBar(utilization === null ? null : utilization / 100, 10, 'accent');
}

function sparkCell({ index }: GpuSummary, { gpuUse }: GpuModel): Line {
  return [span(gaugeSpark(gpuUse(index), sparkWidth), 'spark')];
}

function memoryCell(gpu: GpuSummary, model: GpuModel): Line {
  return memoryBar(gpu, gpuMemory(gpu, runsOn(gpu, model)), 12);
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

/** The known runs placed on a GPU. */
export function runsOn({ runs }: GpuSummary, { fleetRuns }: GpuModel): RunSummary[] {
  return runs.flatMap((id) => fleetRuns.get(id as RunSummary['id']) ?? []);
}

function memoryNumbers({ memoryUsed, memoryTotal }: GpuSummary): string {
  const gib = (mib: number): string => (mib / 1024).toFixed(1);
  if (memoryTotal === null) return '';
  return `${memoryUsed === null ? '?' : gib(memoryUsed)}/${gib(memoryTotal)}`;
}

function percent(value: number | null): string {
  return value === null ? '' : `${Math.round(value)}%`;
}

function rounded(value: number | null, unit: string): string {
  return value === null ? '' : `${Math.round(value)} ${unit}`;
}

/** Temperature from which on GPUs throttle, in °C. */
const hot = 85;

function warm(temperature: number | null): Line[number] {
  return span(fitRight(rounded(temperature, '°C').replace(' ', ''), 5), (temperature ?? 0) >= hot ? 'warn' : 'dim');
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
