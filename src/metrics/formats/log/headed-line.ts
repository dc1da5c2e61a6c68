import type { WrittenRow } from '../format.js';
import { between, numberText, partOf, toNumber } from './pairs.js';

/**
 * Lines of metrics that begin with where the training is, as examples of many libraries print them: `iter 10: loss 3.2, time 25ms`,
 * `[20]\tvalid_0's l2: 0.2` (LightGBM, XGBoost), `Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.3`, `| epoch 1 | 200/2983 batches |
 * loss 7.6 |`, `Test set: Average loss: 0.05, Accuracy: 9836/10000 (98%)`, and the trials of Optuna.
 */
export function headedRowIn(line: string): WrittenRow | null {
  if (line.includes('Trial ')) return trialIn(line);
  if (!mayBeHeaded.test(line)) return null;
  return afterHead(line) ?? betweenBars(line);
}

/** Most lines are none: they are told at once. */
const mayBeHeaded = /^(?:\[\d|\||train|test|val|eval|iter|step|ep|end of)/i;

const steps = /^\[(\d+)\]\s+/;
const counted = /^(iter(?:ation)?|step|epoch|episode)[ :#]*(\d+)(?:\/\d+)?(?::\s*|\s+|,\s*)(?=[A-Za-z_])/i;
const within = /^(?:train(?:ing)? )?epoch[ :#]*(\d+) *\[ *(\d+)\/ *(\d+)[^\]]*\][\s:,]*/i;
const ofSet = /^(test|val(?:id(?:ation)?)?|eval(?:uation)?)(?: set| results?)?: +(?=[A-Za-z][\w ]*:)/i;

const resultsOf =
  /^(train(?:ing)?|test|val(?:id(?:ation)?)?|eval(?:uation)?) results? - epoch[ :#]*(\d+)\s+(?=[A-Za-z])/i;

/** What a line begins with, and the row that it makes of it. */
const heads: readonly (readonly [RegExp, (found: RegExpExecArray) => { row: Record<string, number>; of?: string }])[] =
  [
    [steps, ([, step]) => ({ row: { step: Number(step) } })],
    [within, ([, epoch, done, of]) => ({ row: { epoch: epochAt(Number(epoch), Number(done) / Number(of)) } })],
    [
      counted,
      ([, name, at]) => ({ row: { [/^(iter|step)/i.test(name!) ? 'step' : name!.toLowerCase()]: Number(at) } }),
    ],
    [resultsOf, ([, set, epoch]) => ({ row: { epoch: Number(epoch) }, of: set!.toLowerCase() })],
    [ofSet, ([, set]) => ({ row: {}, of: set!.toLowerCase() })],
  ];

/** Also where nothing but a space is between a number and the next name: `Avg accuracy: 0.23 Avg loss: 2.29`. */
const parted = new RegExp(String.raw`${between.source}|(?<=: ?${numberText}) (?=[A-Za-z][\w ]*: )`);

function afterHead(line: string): WrittenRow | null {
  for (const [pattern, read] of heads) {
    const found = pattern.exec(line);
    if (found === null) continue;
    const { row, of } = read(found);
    const rest = line.slice(found[0].length).trim().split(parted);
    const metrics = rowOf(rest, of === undefined ? '' : `${of}/`);
    return metrics === null ? null : { ...row, ...metrics };
  }
  return null;
}

const epochPart = /^(?:end of )?epoch +(\d+)$/i;
const share = /^(\d+)\/ *(\d+)(?: (?:batches|steps|iters|iterations))?$/;

/** `| epoch   1 |   200/ 2983 batches | lr 20.00 | loss  7.60 |`, with or without bars around it. */
function betweenBars(line: string): WrittenRow | null {
  if (!line.includes('|')) return null;
  const parts = line.split('|').map((part) => part.trim().replace(/\s+/g, ' '));
  const [head, next = '', ...rest] = parts.filter((part) => part !== '');
  const epoch = epochPart.exec(head ?? '')?.[1];
  if (epoch === undefined) return null;
  const [, done, of] = share.exec(next) ?? [];
  const isDone = done === undefined;
  const metrics = rowOf(isDone ? [next, ...rest] : rest, '');
  return metrics && { epoch: isDone ? Number(epoch) : epochAt(Number(epoch), Number(done) / Number(of)), ...metrics };
}

/** Epochs are counted from 1: half of the first one is 0.5. */
function epochAt(epoch: number, share: number): number {
  return Number.isFinite(share) ? Math.max(0, epoch - 1) + share : epoch;
}

const bare = new RegExp(
  String.raw`^([A-Za-z_][\w./@%'-]*(?: [A-Za-z_][\w./@%'-]*){0,3}) +(${numberText}) ?(?:s|ms|%|it/s)?$`,
);
const ratio = /^([A-Za-z][\w ]*): *(\d+)\/(\d+) \([\d.]+ ?%\)$/;
/** Names without a sign between them and their numbers are taken for metrics only where one of them is one. */
const metricWord =
  /loss|acc|reward|return|\blr\b|learning.rate|ppl|perplexity|err|score|auc|f1|mse|mae|bleu|iou|entropy|kl/i;

/** All of the line has to be such parts; null: it is not. */
function rowOf(texts: readonly string[], prefix: string): Record<string, number> | null {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== '');
  const pairs = parts.map((part) => partOf(part) ?? ratioOf(part) ?? bareOf(part));
  const read = pairs.filter((pair) => pair !== null);
  if (read.length === 0 || read.length < parts.length) return null;
  const bareNames = read.filter(([, , isBare]) => isBare === true).map(([name]) => name);
  if (bareNames.length > 0 && !metricWord.test(bareNames.join(' '))) return null;
  return Object.fromEntries(read.map(([name, number]) => [prefix + name, number]));
}

/** Metrics in what stands before a bar of tqdm: `ITERATION - loss: 2.27:  96%|…`. Null: there are none. */
export function describedIn(text: string): WrittenRow | null {
  const parts = text.trim().replace(/:$/, '').split(between);
  const pairs = parts.map((part) => partOf(part) ?? bareOf(part)).filter((pair) => pair !== null);
  const metrics = pairs.filter(([name]) => metricWord.test(name));
  return metrics.length === 0 ? null : Object.fromEntries(metrics.map(([name, number]) => [name, number]));
}

/** A name, its number, and whether nothing stands between them. */
type Pair = readonly [string, number, true?];

function bareOf(part: string): Pair | null {
  const [, name, value] = bare.exec(part) ?? [];
  return name === undefined ? null : [name, toNumber(value!), true];
}

/** `Accuracy: 9836/10000 (98%)`: percent, but exactly. */
function ratioOf(part: string): Pair | null {
  const [, key, of, all] = ratio.exec(part) ?? [];
  return key === undefined ? null : [key, (100 * Number(of)) / Number(all)];
}

const trial = new RegExp(
  String.raw`\bTrial (\d+) finished with value: (${numberText}) .*\bBest is trial \d+ with value: (${numberText})\.$`,
);

function trialIn(line: string): WrittenRow | null {
  const [, number, value, best] = trial.exec(line) ?? [];
  return number === undefined
    ? null
    : { trial: Number(number), value: toNumber(value!), 'best value': toNumber(best!) };
}
