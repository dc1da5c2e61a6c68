/**
 * The content of a tqdm bar. `etaSeconds` null: it is not known yet. `rate`: `2.5it/s`. `rest`: the postfix of the program;
 * `before`: the text before the bar.
 */
export type Bar = {
  done: number;
  total: number;
  etaSeconds: number | null;
  rate: string | null;
  rest: string;
  before: string;
  isKeras: boolean;
};

const bar =
  /\d{1,3}%\|[^|]*\| ?(\d+)\/(\d+) \[[\d:]+<([\d:?]+|\d+ days?, [\d:]+)(?:, *(\?|[\d.]+)?((?:[a-zA-Z]+\/s|s\/[a-zA-Z]+)))?(?:, (.*))?\]/;

/** The bar in a line; null: there is none, or it counts bytes. */
export function barIn(line: string): Bar | null {
  if (!line.includes('%|')) return null;
  const found = bar.exec(line);
  const [, done, total, eta, number, unit, rest] = found ?? [];
  if (total === undefined || Number(total) === 0) return null;
  const rate = number === undefined || number === '?' ? null : `${number}${unit}`;
  const before = line.slice(0, found!.index).trim().replace(/:$/, '');
  return {
    done: Number(done),
    total: Number(total),
    etaSeconds: secondsOf(eta!),
    rate,
    rest: rest ?? '',
    before,
    isKeras: false,
  };
}

/** Code of the digit 9. */
const NINE = 57;
const kerasBar =
  /^(\d+)\/(\d+) (?:━[━ ]*|\[[=>.]*\] - *|- *| *)(?:ETA: )?(\d+s|\d+(?::\d+)+)? ?(?:- )?(\d+(?:m|u)?s\/(?:step|epoch))?(?: - (.*))?$/;

/** Parses a bar of Keras: `255/1250 ━━━━ 9s 10ms/step - acc: 0.07 - loss: 0.08`. The metrics are means of the epoch so far. */
export function kerasBarIn(line: string): Bar | null {
  if (line.charCodeAt(0) > NINE || !line.includes('/')) return null;
  const found = kerasBar.exec(line);
  return found === null || isDate(line, found) ? null : barOf(found);
}

/** Whether a line begins with a date and a time, not a bar: `04/09 12:00:00 - …`. */
function isDate(line: string, [, , , time, rate]: RegExpExecArray): boolean {
  return rate === undefined && time?.includes(':') === true && !/━|\[[=>.]+\]/.test(line);
}

function barOf([, done, total, time, rate, rest = '']: RegExpExecArray): Bar | null {
  if (Number(total) === 0 || (time ?? rate) === undefined) return null;
  // A full bar shows the time taken instead of the time left.
  const etaSeconds = done === total || time === undefined ? null : secondsOf(time.replace(/s$/, ''));
  return { done: Number(done), total: Number(total), etaSeconds, rate: rate ?? null, rest, before: '', isKeras: true };
}

/** The seconds in `1:02:03`, `02:03` or `1 day, 2:03:04`; null: unknown. */
export function secondsOf(text: string): number | null {
  const [, days, clock] = /^(?:(\d+) days?, )?([\d:]+)$/.exec(text) ?? [];
  if (clock === undefined) return null;
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + 86_400 * Number(days ?? 0);
}
