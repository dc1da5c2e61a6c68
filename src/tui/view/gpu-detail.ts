import { gpuName } from '../../base/ids.js';
import { cleanText } from '../../text/display-text.js';
import type { GpuSummary, RunSummary } from '../port.js';
import { shortDuration } from '../../text/duration.js';
import { memoryReading } from '../../text/numbers.js';
import { gpuMemory, memoryHere } from './gpu-memory.js';
import { runsOn } from './gpu-table.js';
import { sectionRule } from './section.js';
import { fit, fitLine, fitRight, type Line, span } from './span.js';
import { stateLook } from './state-look.js';
import { elapsed } from './tally.js';
import type { WindowModel } from './window-model.js';

/** Whoever is on a GPU: its runs, foreign processes, and what nobody can see. */
export function gpuDetail(gpu: GpuSummary, model: WindowModel, width: number): Line[] {
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

/** The runs on slots of the CPU. */
export function cpuDetail(model: WindowModel, width: number): Line[] {
  const runs = [...(model.fleetRuns?.values() ?? [])].filter(({ slot }) => slot?.startsWith('cpu') === true);
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

/** Slot, name, memory, time, progress; the longest name decides where the numbers begin. */
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
