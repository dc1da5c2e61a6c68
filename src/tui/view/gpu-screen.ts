import { cpuDetail, gpuDetail } from './gpu-detail.js';
import { memoryReading } from '../../text/numbers.js';
import { gpuTable } from './gpu-table.js';
import { sectionRule } from './section.js';
import { fitLine, type Line, span } from './span.js';
import type { WindowModel } from './window-model.js';

/** The GPUs and the CPU: what they do, and for whom. At most `height` lines of `width` columns. */
export function gpuScreen(model: WindowModel, width: number, height: number): Line[] {
  const { gpus } = model.status;
  const chosen = chosenRow(model);
  const detail = detailAt(chosen, model, width);
  // The table gives way as far as the chosen row and its neighbours are still seen.
  const least = Math.min(gpus.length + 2, 5);
  const tableHeight = Math.max(least, Math.min(gpus.length + 2, height - detail.length - 2));
  const table = [sectionRule('GPUs', totals(model), width), ...gpuTable(model, chosen, width, tableHeight), []];
  const lines = withOthers([...(gpus.length > 0 ? table : []), ...detail], chosen, model, { width, height });
  const below = lines.length - height;
  const shown = below > 0 ? [...lines.slice(0, height - 1), [span(` … ${below + 1} more`, 'faint')]] : lines;
  return shown.map((line) => fitLine(line, width));
}

/** Who is on the place of a row: a GPU, or after the last of them the CPU. */
function detailAt(row: number, model: WindowModel, width: number): Line[] {
  const gpu = model.status.gpus[row];
  return gpu === undefined ? cpuDetail(model, width) : gpuDetail(gpu, model, width);
}

/** Below the chosen place the others on which anything is, as far as they are seen whole. */
function withOthers(
  lines: readonly Line[],
  chosen: number,
  model: WindowModel,
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

/** The CPU has the row after the last GPU. */
function chosenRow({ ui, status }: WindowModel): number {
  return ui.screen.kind === 'gpus' ? Math.min(ui.screen.index, status.gpus.length) : 0;
}

function totals({ status: { gpus } }: WindowModel): Line {
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
