import type { Parameters } from '../base/scalar.js';
import { scalarOf } from '../metrics/tree/setting-files.js';

/**
 * What the name of a folder says of a run's parameters, where no file does: `lr=0.1,bs=32`, `lr0.1_s0`, `seed-3`, `lr_0.1`.
 * `rest`: what else is in it.
 */
type NameWords = { readonly parameters: Parameters; readonly rest: string };

/** Words that number runs, or versions of anything, and are no parameters. */
const counts =
  /^(v|version|run|runs|trial|job|exp|experiment|attempt|try|worker|part|ckpt|checkpoint|step|epoch|iter|no|nr)$/i;
/** Words that stand before a number with a `_` or a blank in between: any other word may be a name with a number. */
const usual =
  /^(s|seed|lr|bs|batch|wd|gamma|lambda|lam|beta|beta1|beta2|alpha|eps|epsilon|clip|ent|kl|tau|temp|dropout|layers|depth|width|dim|hidden|rank|heads|n|k|N|epochs|steps|warmup|momentum|noise|size)$/;
const number = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?`;
const joined = new RegExp(`^([A-Za-z]+(?:_[a-z]+)*)-?(${number})$`, 'i');
const alone = new RegExp(`^${number}$`, 'i');
const assigned = /(?:^|[_,\s/-])([A-Za-z][A-Za-z0-9.]*(?:_[A-Za-z][A-Za-z0-9.]*)*)=([^_,\s/]+)/g;

export function nameWords(name: string): NameWords {
  const parameters: Parameters = {};
  const unassigned = name.replace(assigned, (_whole, key: string, value: string) => {
    parameters[key] = scalarOf(value);
    return ' ';
  });
  const words = unassigned.split(/[_,\s/]+|-(?=[A-Za-z])/).filter((word) => word !== '');
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const [, key, value] = joined.exec(word) ?? [];
    if (key !== undefined && !counts.test(key)) parameters[keyOf(key)] = Number(value);
    else if (usual.test(word) && alone.test(words[at + 1] ?? '')) parameters[keyOf(word)] = Number(words[++at]);
    else rest.push(word);
  }
  return { parameters, rest: rest.join(' ') };
}

function keyOf(word: string): string {
  return word === 's' ? 'seed' : word;
}

/** Whether a folder's name is nothing but parameters, or the number of a repetition. */
export function isOnlyWords(name: string): boolean {
  return nameWords(name).rest === '';
}
