import { cleanText } from '../../text/display-text.js';
import { keyOf } from '../key-map.js';
import type { FleetStatus } from '../port.js';
import { shortDuration } from '../../text/duration.js';
import { progressBar } from './progress-bar.js';
import { blank, ends, fitLine, type Line, lineWidth, onBackground, span } from './span.js';
import { stateLook, statesInOrder } from './state-look.js';
import { isOver } from './tally.js';
import type { WindowModel } from './window-model.js';

/** Three lines: the sweep and its runs by state; the whole progress; what keeps the supervisor from its work, if anything. */
export function header(model: WindowModel, width: number): Line[] {
  const name: Line = [span(` ${model.title}`, 'title'), span('   ')];
  const right = rightEnd(model);
  const room = width - lineWidth(name) - lineWidth(right) - 2;
  const long = counts(model, true);
  return [
    ends([...name, ...(lineWidth(long) <= room ? long : counts(model, false))], right, width),
    isOver(model.tally) ? endedLine(model, width) : progressLine(model, width),
    model.status.problem === null ? blank(width) : problemLine(model.status.problem, width),
  ];
}

/** One line, for a small screen. */
export function shortHeader(model: WindowModel, width: number): Line {
  const percent = `${Math.floor(model.tally.progress * 100)}%`;
  const connection = model.connection === 'connected' ? [] : onBackground([span(' ! ', 'strong')], 'alarm');
  return ends(
    [span(`${model.title} `, 'title'), ...counts(model, false)],
    [...connection, span(` ${percent}`, 'dim')],
    width,
  );
}

function counts({ tally }: WindowModel, isLong: boolean): Line {
  return statesInOrder
    .filter((state) => tally.counts[state] > 0)
    .flatMap((state) => [
      span(`${stateLook[state].glyph}${isLong ? ' ' : ''}${tally.counts[state]}`, stateLook[state].tone),
      span(isLong ? ` ${state}   ` : ' ', 'dim'),
    ]);
}

function rightEnd(model: WindowModel): Line {
  if (model.connection === 'reconnecting')
    return onBackground([span(' supervisor lost · reconnecting ', 'strong')], 'alarm');
  return [span(`${slotWords(model.status)} `, 'dim'), span(timeWords(model), 'plain')];
}

/** How long the runs have taken. Nothing of runs that had all ended before this supervisor knew of them. */
function timeWords({ startedAt, endedAt, now, tally }: WindowModel): string {
  if (startedAt !== null) return `  ${shortDuration((endedAt ?? now) - startedAt)} `;
  return isOver(tally) ? '' : '  not started ';
}

/** `2 of 4 slots busy`, `7 of 8 GPUs busy`, or both. */
function slotWords({ cpu, gpus }: FleetStatus): string {
  const busyGpus = gpus.filter(({ runs }) => runs.length > 0).length;
  const words = [
    gpus.length > 0 ? `${busyGpus} of ${gpus.length} GPUs` : '',
    cpu.busy > 0 || gpus.length === 0 ? `${cpu.busy} of ${cpu.slots} slots` : '',
  ];
  return `${words.filter((word) => word !== '').join(', ')} busy`;
}

function problemLine(problem: string, width: number): Line {
  return onBackground(fitLine([span(` ${cleanText(problem)}`, 'strong')], width), 'alarm');
}

function progressLine({ tally, etaSeconds }: WindowModel, width: number): Line {
  const percent = ` ${Math.floor(tally.progress * 100)}%`.padStart(5);
  const eta = etaSeconds === null ? '' : ` · about ${shortDuration(etaSeconds * 1000)} left`;
  const right = [span(percent, 'strong'), span(`${eta} `, 'dim')];
  return [span(' '), ...progressBar(tally.progress, Math.max(0, width - lineWidth(right) - 1), 'accent'), ...right];
}

function endedLine({ tally, table, ui }: WindowModel, width: number): Line {
  const failed = tally.total - tally.counts.done;
  const text =
    failed === 0 ? `✓ all ${tally.total} runs done` : `${tally.counts.done} of ${tally.total} runs done, ${failed} not`;
  const hint = `${table === null ? '' : ` · ${keyOf('table', ui.keys)} shows the table`} · ${keyOf('leave', ui.keys)} detaches `;
  return ends([span(` ${text}`, failed === 0 ? 'good' : 'warn'), span(hint, 'dim')], [], width);
}
