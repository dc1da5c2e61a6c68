import { gpuName } from '../../../base/ids.js';
import { cleanText } from '../../../text/display-text.js';
import { shortDuration } from '../../../text/duration.js';
import { counted, memoryReading } from '../../../text/numbers.js';
import type { GpuSummary, RunSummary } from '../../state/port.js';
import { slotText } from '../../../protocol/run-summary.js';
import { gpuMemory, memoryHere } from './gpu-memory.js';
import { nodeTable, nodeTotals, type ShownNode, shownNodes } from './node-table.js';
import { gpuTable, runsOn } from './gpu-table.js';
import { sectionRule } from '../../widgets/section.js';
import { fit, fitLine, fitRight, type Line, span } from '../../surface/span.js';
import { stateLook } from '../../model/state-look.js';
import { elapsed } from '../../model/tally.js';
import type { GpuModel } from './gpu-data.js';

/**
 * The rows of the table with their users. `table`: has a heading and `height - 1` rows around the chosen one; null: one row needs no
 * table.
 */
type Places = {
  readonly title: string;
  readonly totals: Line;
  readonly table: ((chosen: number, width: number, height: number) => Line[]) | null;
  readonly rows: readonly { readonly isEmpty: boolean; readonly detail: (width: number) => Line[] }[];
};

/** The GPUs and the CPU, or the nodes of a cluster, with their usage and users. At most `height` lines of `width` columns. */
export function gpuScreen(model: GpuModel, width: number, height: number): Line[] {
  const nodes = shownNodes(model.status, model.fleetRuns.values());
  const { title, totals: sums, table, rows } = nodes.length > 0 ? nodePlaces(nodes, model) : gpuPlaces(model);
  const chosen = model.ui.screen.kind === 'gpus' ? Math.min(model.ui.screen.index, rows.length - 1) : 0;
  const detail = rows[chosen]!.detail(width);
  // The table is shortened while the chosen row and its neighbours stay visible.
  const least = Math.min(rows.length + 1, 5);
  const tableHeight = Math.max(least, Math.min(rows.length + 1, height - detail.length - 2));
  const head = table === null ? [] : [sectionRule(title, sums, width), ...table(chosen, width, tableHeight), []];
  const lines = withOthers([...head, ...detail], rows, chosen, { width, height });
  const below = lines.length - height;
  const shown = below > 0 ? [...lines.slice(0, height - 1), [span(` … ${below + 1} more`, 'faint')]] : lines;
  return shown.map((line) => fitLine(line, width));
}

/** The GPUs of this machine; the CPU has the row after the last one. */
function gpuPlaces(model: GpuModel): Places {
  const { gpus, cpu } = model.status;
  const rows = gpus.map((gpu) => ({
    isEmpty: gpu.runs.length + gpu.foreign.length === 0,
    detail: (width: number) => gpuDetail(gpu, model, width),
  }));
  return {
    ...{ title: 'GPUs', totals: totals(model) },
    table: gpus.length === 0 ? null : (chosen, width, height) => gpuTable(model, chosen, width, height),
    rows: [...rows, { isEmpty: cpu.busy === 0, detail: (width) => cpuDetail(model, width) }],
  };
}

function nodePlaces(nodes: readonly ShownNode[], model: GpuModel): Places {
  return {
    ...{ title: 'Nodes', totals: nodeTotals(nodes) },
    table: (chosen, width, height) => nodeTable(nodes, chosen, width, height),
    rows: nodes.map((node) => ({
      isEmpty: node.runs.length === 0,
      detail: (width) => nodeDetail(node, model, width),
    })),
  };
}

/** Adds other rows in use below the chosen one, as far as they fit completely. */
function withOthers(
  lines: readonly Line[],
  rows: Places['rows'],
  chosen: number,
  { width, height }: { readonly width: number; readonly height: number },
): Line[] {
  const shown = [...lines];
  for (const [index, { isEmpty, detail }] of rows.entries()) {
    if (index === chosen || isEmpty) continue;
    const added = detail(width);
    if (shown.length + 1 + added.length > height) break;
    shown.push([], ...added);
  }
  return shown;
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

/** The runs on a node of a cluster, with their GPUs there. */
function nodeDetail({ name, runs }: ShownNode, model: GpuModel, width: number): Line[] {
  return [
    sectionRule(`Node ${cleanText(name)}`, [span(counted(runs.length, 'run'), 'dim')], width),
    ...runLines(runs, model.now, width, () => null),
    ...(runs.length === 0 ? [line(' ', 'No run of this supervisor is here.')] : []),
  ];
}

function cpuDetail(model: GpuModel, width: number): Line[] {
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
      span(`  ${slotText(run)}`, 'faint'),
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
