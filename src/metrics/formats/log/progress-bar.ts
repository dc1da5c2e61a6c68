import { toNumber } from './printed-tokens.js';

/**
 * The content of a tqdm bar. `total` 0: it is not known. `eta`: the time left as it is drawn; '': not known. `rate`: `2.5it/s`. `rest`: the postfix of
 * the program; `before`: the text before the bar; `after`: the text that was printed behind it on the same line.
 */
export type Bar = {
  done: number;
  total: number;
  eta: string;
  rate: string | null;
  rest: string;
  before: string;
  after: string;
  isKeras: boolean;
};

const rateText = String.raw`, *(\?|[\d.]+)?((?:[a-zA-Z]+\/s|s\/[a-zA-Z]+))(?:, )?`;
const bar = new RegExp(
  String.raw`\d{1,3}%\|[^|]*\| ?(\d+)\/(\d+) \[[\d:]+<([\d:?]+|\d+ days?, [\d:]+)(?:${rateText})?`,
);
/** A bar of an unknown length: `12it [00:01, 9.50it/s]`. */
const countAt = new RegExp(String.raw`(\d+)[a-z]{2,9} \[[\d:]+${rateText}`);

/** The bar in a line; null: there is none. */
export function barIn(line: string): Bar | null {
  if (!line.includes('%|')) return countIn(line);
  const found = bar.exec(line);
  const [, done, total, eta, number, unit] = found ?? [];
  if (total === undefined || Number(total) === 0) return null;
  const end = closingIn(line, found!.index + found![0].length);
  return end < 0 ? null : barOf(line, found!, end, { done, total, eta, number, unit });
}

type Written = Record<'done' | 'total' | 'eta' | 'number' | 'unit', string | undefined>;

/** The bar between the text before and behind it. `end`: the place of its last bracket. */
function barOf(line: string, found: RegExpExecArray, end: number, { done, total, eta, number, unit }: Written): Bar {
  const from = found.index + found[0].length;
  return {
    done: Number(done),
    total: Number(total ?? 0),
    eta: eta ?? '',
    rate: number === undefined || number === '?' ? null : `${number}${unit}`,
    rest: end === from ? '' : line.slice(from, end),
    before: found.index === 0 ? '' : line.slice(0, found.index).trim().replace(/:$/, ''),
    after: end + 1 === line.length ? '' : line.slice(end + 1).trim(),
    isKeras: false,
  };
}

/** A bar for logs, without a drawing (tqdm_loggable): `train 20.0it/100it rate:1.0it/s remaining:01:20 elapsed:00:20 postfix:…`. */
const written =
  /^(.*?)([\d.]+)([kM]?)it\/([\d.]+)([kM]?)it rate:(\S+) remaining:([\d:?]+) elapsed:[\d:]+(?: postfix:(.*))?$/;

function writtenIn(line: string): Bar | null {
  const [, before, done, scale, total, totalScale, rate, eta, rest = ''] = written.exec(line) ?? [];
  if (before === undefined) return null;
  const [at, of] = [toNumber(done!, scale), toNumber(total!, totalScale)];
  return {
    done: at,
    total: of,
    eta: eta!,
    rate: rate!,
    rest,
    before: before.trim(),
    after: '',
    isKeras: false,
  };
}

function countIn(line: string): Bar | null {
  if (line.includes(' remaining:')) return writtenIn(line);
  const found = line.includes('it [') ? countAt.exec(line) : null;
  const end = found === null ? -1 : closingIn(line, found.index + found[0].length);
  if (end < 0) return null;
  const [, done, number, unit] = found!;
  return barOf(line, found!, end, { done, total: undefined, eta: undefined, number, unit });
}

/** The place of the bracket that closes one that was opened before `from`; -1: there is none. */
function closingIn(line: string, from: number): number {
  let end = line.indexOf(']', from);
  for (let open = line.indexOf('[', from); open >= 0 && open < end; open = line.indexOf('[', open + 1)) {
    end = line.indexOf(']', end + 1);
  }
  return end;
}

/** Code of the digit 9. */
const NINE = 57;
const kerasBar =
  /^(\d+)\/(\d+) (?:━[━ ]*|\[[=>.]*\] - *|- *| *)(?:ETA: )?(\d+s|\d+(?::\d+)+)? ?(?:- )?(\d+(?:m|u)?s\/(?:step|epoch))?(?: - (.*))?$/;

/** Parses a bar of Keras: `255/1250 ━━━━ 9s 10ms/step - acc: 0.07 - loss: 0.08`. The metrics are means of the epoch so far. */
export function kerasBarIn(line: string): Bar | null {
  if (line.charCodeAt(0) > NINE || !line.includes('/')) return null;
  const found = kerasBar.exec(line);
  return found === null || isDate(line, found) ? null : barOfKeras(found);
}

/** Whether a line begins with a date and a time, not a bar: `04/09 12:00:00 - …`. */
function isDate(line: string, [, , , time, rate]: RegExpExecArray): boolean {
  return rate === undefined && time?.includes(':') === true && !/━|\[[=>.]+\]/.test(line);
}

function barOfKeras([, done, total, time, rate, rest = '']: RegExpExecArray): Bar | null {
  if (Number(total) === 0 || (time ?? rate) === undefined) return null;
  return {
    done: Number(done),
    total: Number(total),
    // A full bar shows the time taken instead of the time left.
    eta: done === total ? '' : (time?.replace(/s$/, '') ?? ''),
    rate: rate ?? null,
    rest,
    before: '',
    after: '',
    isKeras: true,
  };
}

/** The seconds in `1:02:03`, `02:03` or `1 day, 2:03:04`; null: unknown. */
export function secondsOf(text: string): number | null {
  const [, days, clock] = /^(?:(\d+) days?, )?([\d:]+)$/.exec(text) ?? [];
  if (clock === undefined) return null;
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + 86_400 * Number(days ?? 0);
}

/**
 * The part of the work that a program's own bar shows, 0 to 1, with its estimate of the time left as it is drawn. `rest`: the line without the bar.
 */
export type OwnBar = { share: number; eta: string; rest: string };

/** A drawing: between brackets or bars, or of blocks. */
const drawing = /\[[=#█▓▒░━■□▪▮▯●○•*>.<_~+ -]{4,}\]|\|[=#█▓▒░━■□▪▮▯●○•*>.<_~+▏▎▍▌▋▊▉ -]{4,}\||[█▓▒░━╸╺■□▮▯]{4,}/;
/** A quick test that rejects most lines. */
const mayBeDrawn = /[=#█▓▒░━■□▪▮▯●○•*>.<_~+-]{2}|[[|] {2}/;
const share = String.raw`(?:(?<percent>\d{1,3}(?:\.\d+)?) ?%|(?<done>\d{1,12}) ?(?:\/|of) ?(?<total>\d{1,12})(?![\d./]))`;
/** Before a drawing, or first in a line without one: `Training: 25%`. Behind a drawing: `[===>  ] 5/20`. */
const shareBefore = new RegExp(String.raw`(?:^|[^\d]*?[\s:([])${share}`, 'y');
const shareBehind = new RegExp(String.raw`[\s:(]*${share}`, 'y');
const ofBytes = /\d ?[KMGT]?i?B(?:\/s)?\b|\d[KMGT]\b/;
const etaIn = /(?:\beta\b:? *|<)(\d+(?::\d\d)+)/i;
/** Limit on the length of a line that is drawn again and again, characters. */
const WIDEST = 400;

/**
 * A program's own bar: `[=====>    ] 50%`, `|████    | 5/20`. Null: the line has none, or one that counts bytes. `isRedrawn`: the
 * line replaces the one before it, so that a percentage alone is enough.
 */
export function ownBarIn(line: string, isRedrawn: boolean): OwnBar | null {
  if (line.length > WIDEST || !(isRedrawn || line.includes('%') || line.includes('/'))) return null;
  const drawn = mayBeDrawn.test(line) ? drawing.exec(line) : null;
  if (drawn === null) return isRedrawn ? drawnBarOf(line, [line, ''], false) : null;
  return drawnBarOf(line, [line.slice(0, drawn.index), line.slice(drawn.index + drawn[0].length)], true);
}

function drawnBarOf(line: string, [head, tail]: readonly [string, string], isDrawn: boolean): OwnBar | null {
  const before = firstOf(shareBefore, head);
  const behind = before === null ? firstOf(shareBehind, tail) : null;
  const share = shareOf(before ?? behind);
  if (share === null || ofBytes.test(line)) return null;
  const rest = isDrawn ? `${without(before, head)} ${without(behind, tail)}`.trim() : line;
  return { share, eta: etaIn.exec(line)?.[1] ?? '', rest };
}

function firstOf(pattern: RegExp, text: string): RegExpExecArray | null {
  pattern.lastIndex = 0;
  return pattern.exec(text);
}

function shareOf(found: RegExpExecArray | null): number | null {
  const { percent, done = percent, total = '100' } = found?.groups ?? {};
  const share = Number(done) / Number(total);
  return share >= 0 && share <= 1 ? share : null;
}

function without(found: RegExpExecArray | null, text: string): string {
  return text.slice(found?.[0].length ?? 0);
}
