import { duration } from './duration.js';
import { progressBar } from './progress-bar.js';
import { ends, type Line, lineWidth, onGround, span } from './span.js';
import { stateLook, statesInOrder } from './state-look.js';
import { busyCount, hasEnded } from './tally.js';
import { type WindowModel } from './window-model.js';

/** Two lines: the sweep and its runs by state; the whole progress. */
export function header(model: WindowModel, width: number): Line[] {
  const name: Line = [span(` ${model.title}`, 'title'), span('   ')];
  const right = rightEnd(model);
  const room = width - lineWidth(name) - lineWidth(right) - 2;
  const long = counts(model, true);
  return [
    ends([...name, ...(lineWidth(long) <= room ? long : counts(model, false))], right, width),
    hasEnded(model.tally) ? endedLine(model, width) : progressLine(model, width),
  ];
}

/** One line, for a small screen. */
export function shortHeader(model: WindowModel, width: number): Line {
  const percent = `${Math.floor(model.tally.progress * 100)}%`;
  const connection = model.connection === 'connected' ? [] : onGround([span(' ! ', 'strong')], 'alarm');
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
    return onGround([span(' supervisor lost · reconnecting ', 'strong')], 'alarm');
  const busy = busyCount(model.tally);
  const end = model.endedAt ?? model.now;
  const slots = busy === 0 ? '' : `${busy} ${busy === 1 ? 'slot' : 'slots'} busy   `;
  const time = model.startedAt === null ? 'not started' : duration(end - model.startedAt);
  return [span(slots, 'dim'), span(`${time} `, 'plain')];
}

function progressLine({ tally, etaSeconds }: WindowModel, width: number): Line {
  const percent = ` ${Math.floor(tally.progress * 100)}%`.padStart(5);
  const eta = etaSeconds === null ? '' : ` · about ${duration(etaSeconds * 1000)} left`;
  const right = [span(percent, 'strong'), span(`${eta} `, 'dim')];
  return [span(' '), ...progressBar(tally.progress, Math.max(0, width - lineWidth(right) - 1), 'accent'), ...right];
}

function endedLine({ tally, table }: WindowModel, width: number): Line {
  const failed = tally.total - tally.counts.done;
  const text =
    failed === 0 ? `✓ all ${tally.total} runs done` : `${tally.counts.done} of ${tally.total} runs done, ${failed} not`;
  const hint = `${table === null ? '' : ' · t shows the table'} · q leaves `;
  return ends([span(` ${text}`, failed === 0 ? 'good' : 'warn'), span(hint, 'dim')], [], width);
}
