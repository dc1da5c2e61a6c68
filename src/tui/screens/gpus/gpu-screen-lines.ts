import { gpuName } from '../../../base/ids.js';
import { cleanText } from '../../../text/display-text.js';
import { shortDuration } from '../../../text/duration.js';
import { counted, memoryReading } from '../../../text/numbers.js';
import type { GpuSummary, RunSummary } from '../../state/port.js';
import { gpuMemory, memoryHere } from './gpu-memory.js';
import { gpuTable, runsOn } from './gpu-table.js';
import { sectionRule } from '../../widgets/section.js';
import { fit, fitLine, fitRight, type Line, span } from '../../surface/span.js';
import { stateLook } from '../../model/state-look.js';
import { elapsed } from '../../model/tally.js';
import type { GpuModel } from './gpu-data.js';

/** The GPUs and the CPU with their usage and users. At most `height` lines of `width` columns. */
export function gpuScreen(model: GpuModel, width: number, height: number): Line[] {
  const { gpus } = model.status;
  const chosen = chosenRow(model);
  const detail = detailAt(chosen, model, width);
  // The table is shortened while the chosen row and its neighbours stay visible.
  const least = Math.min(gpus.length + 2, 5);
  const tableHeight = Math.max(least, Math.min(gpus.length + 2, height - detail.length - 2));
  const table = [sectionRule('GPUs', totals(model), width), ...gpuTable(model, chosen, width, tableHeight), []];
  const lines = withOthers([...(gpus.length > 0 ? table : []), ...detail], chosen, model, { width, height });
  const below = lines.length - height;
  const shown = below > 0 ? [...lines.slice(0, height - 1), [span(` … ${below + 1} more`, 'faint')]] : lines;
  return shown.map((line) => fitLine(line, width));
}

/** Users of the GPU in a row, or of the CPU in the row after the last GPU. */
function detailAt(row: number, model: GpuModel, width: number): Line[] {
  const gpu = model.status.gpus[row];
  return gpu === undefined ? cpuDetail(model, width) : gpuDetail(gpu, model, width);
}

/** Adds other GPUs in use below the chosen one, as far as they fit completely. */
function withOthers(
  lines: readonly Line[],
  chosen: number,
  model: GpuModel,
  { width, height }: { readonly width: number; readonly height: number },
): Line[] {
  const shown = [...lines];
  const { gpus, cpu } = model.status;
  for (let row = 0; row <= gpus.length; row++) {
    const gpu = gpus[row];
    const isEmpty = gpu === undefined ? cpu.busy === 0 : gpu.runs.length + gpu.foreign.length === 0;
    if (row === chosen || isEmpty) continue;
    const detail = detailAt(row, model, width);
    if (shown.length + 1 + detail.length > height) break;
    shown.push([], ...detail);
  }
  return shown;
}

/** The chosen row. The CPU has the row after the last GPU. */
function chosenRow({ ui, status }: GpuModel): number {
  return ui.screen.kind === 'gpus' ? Math.min(ui.screen.index, status.gpus.length) : 0;
}

function totals({ status: { gpus } }: GpuModel): Line {
  if (gpus.length === 0) return [];
  const sum = (read: (gpu: (typeof gpus)[number]) => number | null): number =>
    gpus.reduce((total, gpu) => total + (read(gpu) ?? 0), 0);
  const power = sum((gpu) => gpu.power);
  const words = [
    `${gpus.filter(({ runs }) => runs.length > 0).length} of ${gpus.length} in use`,
    `${memoryReading(sum((gpu) => gpu.memoryUsed))} of ${memoryReading(sum((gpu) => gpu.memoryTotal))}`,
    ...(power > 0 ? [`${Math.round(power)} W`] : []),
  ];
  return [span(words.join(' · '), 'dim')];
}

/** Users of a GPU: its runs, foreign processes, and invisible ones. */
function gpuDetail(gpu: GpuSummary, model: GpuModel, width: number): Line[] {
  const runs = runsOn(gpu, model);
  const { hidden } = gpuMemory(gpu, runs);
  const name = `GPU ${gpuName(gpu.index)}${gpu.name === null ? '' : ` · ${cleanText(gpu.name)}`}`;
  const unseen =
    hidden > 16
      ? [line('·', `${memoryReading(hidden)} held by processes not visible from here: a desktop, another container`)]
      : [];
  return [
    sectionRule(name, gpu.uuid === null ? [] : [span(cleanText(gpu.uuid), 'faint')], width),
    ...notes(gpu),
    ...runLines(runs, model.now, width, memoryHere),
    ...gpu.foreign.map((process) => foreignLine(process, width)),
    ...unseen,
    ...(runs.length + gpu.foreign.length + unseen.length === 0 ? [line(' ', 'No processes.')] : []),
  ];
}

/** The runs on CPU slots; or those on the nodes of a cluster, node by node, where another program finds a place for them. */
function cpuDetail(model: GpuModel, width: number): Line[] {
  const placed = [...model.fleetRuns.values()].filter(({ slot }) => slot !== null && !/^(cpu|gpu) /.test(slot));
  const nodes = [...new Set(placed.map(({ slot }) => slot!))].sort();
  if (nodes.length > 0) {
    return nodes.flatMap((node, index) => {
      const here = placed.filter(({ slot }) => slot === node);
      const title = sectionRule(`Node ${cleanText(node)}`, [span(counted(here.length, 'run'), 'dim')], width);
      return [...(index === 0 ? [] : [[]]), title, ...runLines(here, model.now, width, () => null)];
    });
  }
  const runs = [...model.fleetRuns.values()].filter(({ slot }) => slot?.startsWith('cpu') === true);
  const { cpu, gpus } = model.status;
  const without = gpus.length === 0 ? [line(' ', noGpus)] : [];
  return [
    sectionRule('CPU', [span(`${cpu.busy} of ${cpu.slots} slots busy`, 'dim')], width),
    ...without,
    ...runLines(runs, model.now, width, () => null),
    ...(runs.length === 0 ? [line(' ', 'No run is on the CPU.')] : []),
  ];
}

const noGpus = 'No GPU is used here: none was found, or --gpus none was given. See memrl-tui doctor.';

function notes({ drained, leasedBy, mps, utilization, memoryUsed }: GpuSummary): Line[] {
  return [
    ...(leasedBy === null
      ? []
      : [line('‖', `Leased by the runs in ${cleanText(leasedBy)}; it is free once they end.`)]),
    ...(drained ? [line('‖', 'Drained: no new runs start on it. D undrains it.')] : []),
    ...(utilization === null && memoryUsed === null ? [line('?', 'The driver did not report it last time.')] : []),
    ...(mps ? [line('·', 'Its runs share it through MPS.')] : []),
  ];
}

function line(glyph: string, text: string): Line {
  return [span(` ${glyph} `, 'warn'), span(text, 'dim')];
}

type MemoryOf = (run: RunSummary) => number | null;

/** Slot, name, memory, time, progress; numbers are aligned after the longest name. */
function runLines(runs: readonly RunSummary[], now: number, width: number, memoryOf: MemoryOf): Line[] {
  const nameWidth = Math.min(Math.max(12, width - 44), Math.max(0, ...runs.map(({ name }) => name.length)));
  const hasMemory = runs.some((run) => memoryOf(run) !== null);
  return runs.map((run): Line => {
    const look = stateLook[run.state];
    const [memory, time] = [memoryOf(run), elapsed(run, now)];
    const parts = [
      span(` ${look.glyph} `, look.tone),
      span(fit(cleanText(run.name), nameWidth)),
      span(hasMemory ? `  ${fitRight(memory === null ? '' : memoryReading(memory), 9)}` : '', 'value'),
      span(`  ${fitRight(run.progress === null ? '' : `${Math.floor(run.progress * 100)}%`, 4)}`, 'value'),
      span(`  ${fitRight(time === null ? '' : shortDuration(time), 7)}`, 'dim'),
      span(`  ${run.slot ?? ''}`, 'faint'),
    ];
    return fitLine(parts, width);
  });
}

function foreignLine({ pid, name, memory }: GpuSummary['foreign'][number], width: number): Line {
  const held = memory === null ? '' : ` · ${memoryReading(memory)}`;
  return fitLine(
    [
      span(' ! ', 'warn'),
      span(cleanText(name), 'plain'),
      span(`  pid ${pid}${held} · not a run of this supervisor`, 'dim'),
    ],
    width,
  );
}
