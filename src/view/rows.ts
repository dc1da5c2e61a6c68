import { basename } from 'node:path';
import { namesRepetition } from '../analysis/forecast/durations.js';
import { groupBy } from '../base/group-by.js';
import { isSeedName, type Parameters } from '../base/scalar.js';
import { type FoundFacts, scalarOf } from '../metrics/tree/setting-files.js';
import type { FoundRun } from '../metrics/tree/find-runs.js';
import { toldValues, varyingNames } from '../spec/expand/run-name.js';
import { folderText } from '../text/romanized.js';

/** What a row says of a run, beside its metrics. `name`: of no other run below the same path. */
export type RowHead = {
  readonly name: string;
  readonly group: string;
  readonly subgroup: string | null;
  readonly parameters: Parameters;
};

type Known = { readonly run: FoundRun; readonly facts: FoundFacts };
/** `place`: without what is below it where no other run is, and without its group. */
type Placed = Known & { readonly group: string; readonly place: string };
type OfRun = Placed & { readonly of: Known };

/** Parameter that stands for the words in the names of folders that are none. */
const VARIANT = 'variant';
/** Longest name of a run, of its parameters; a longer one tells a person less than the folder's. */
const LONGEST = 80;

/**
 * Heads of rows for runs that were found below one path, in their order. Runs are grouped by the project, experiment or folder that
 * they lie in, named by what varies in their group, and those that differ in their seed alone make a subgroup.
 *
 * @param label What the path is called: the group of runs that lie in no folder below it.
 */
export function rowHeads(found: readonly Known[], label: string): RowHead[] {
  const placed = grouped(found, label);
  const heads = new Map<Known, RowHead>();
  for (const members of groupBy(placed, ({ group }) => group).values())
    for (const alike of alikeKnown(members)) for (const [member, head] of headsOf(alike)) heads.set(member, head);
  return distinct(found.map((each) => heads.get(each)!));
}

/** Names of one kind of folder in which writers keep their runs say nothing of them. */
const plain = /^(wandb|lightning_logs|runs|logs|multirun|outputs|mlruns|tensorboard|tb|tb_logs|checkpoints)$/i;

function grouped(found: readonly Known[], label: string): readonly OfRun[] {
  const counts = new Map<string, number>();
  for (const { run } of found)
    for (const prefix of prefixesOf(run.place)) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  return found.map((each) => {
    const { place } = each.run;
    const own = prefixesOf(place).find((prefix) => counts.get(prefix) === 1 && found.length > 1) ?? place;
    const parts = own.split('/');
    let depth = parts.length - 1;
    // `lr0.1/seed0`: the folder around is a part of the name, and no group.
    while (depth > 0 && isOnlyWords(parts[depth]!)) depth -= 1;
    const folder = parts.slice(0, depth);
    const told = folder.filter((part) => !plain.test(part));
    const name = each.facts.group ?? (told.length > 0 ? told : folder).join('.');
    return { ...each, of: each, group: nameText(name) || label, place: parts.slice(depth).join('/') };
  });
}

/** `a/b/c`: `a`, `a/b`, `a/b/c`. */
function prefixesOf(place: string): string[] {
  const parts = place.split('/');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}

/**
 * The runs of a group, so that those whose files say nothing of their parameters, such as runs that write them at their end, are not
 * taken to differ from the others in every one: all of them have what their names say, or those are a group of their own.
 */
function alikeKnown(members: readonly OfRun[]): (readonly OfRun[])[] {
  const isKnown = ({ facts }: OfRun) => Object.keys(facts.parameters).length > 0;
  const [known, unknown] = [members.filter(isKnown), members.filter((member) => !isKnown(member))];
  if (known.length === 0 || unknown.length === 0) return [members];
  const named = members.map((member) => {
    const { parameters } = nameWords(member.place);
    return { ...member, facts: { ...member.facts, parameters } };
  });
  const kinds = new Set(named.map(({ facts }) => Object.keys(facts.parameters).sort().join('\n')));
  if (kinds.size === 1 && !kinds.has('')) return [named];
  return [known, unknown.map((member) => ({ ...member, group: `${member.group}-without-parameters` }))];
}

function headsOf(members: readonly OfRun[]): [Known, RowHead][] {
  const parameters = parametersOf(members);
  const varying = varyingNames(parameters.map((each) => ({ parameters: each })));
  const settings = varying.filter((name) => !namesRepetition(name));
  const told = [...settings, ...varying.filter(isSeedName)];
  const named = parameters.map((each) => nameOf(told, each));
  const isTold = named.every((name) => name !== '' && name.length <= LONGEST) && new Set(named).size === named.length;
  const titles = parameters.map((each) => nameOf(settings, each));
  const hasSeeds = new Set(titles).size < titles.length;
  return members.map(({ of, run, facts, group, place }, index) => {
    const folder = nameText(run.place) || 'run';
    const name = isTold ? named[index]! : (facts.name ?? place) || basename(run.directory);
    const subgroup = hasSeeds && titles[index] !== '' && titles[index]!.length <= LONGEST ? titles[index]! : null;
    return [of, { name: nameText(name) || folder, group, subgroup, parameters: parameters[index]! }];
  });
}

/** What these parameters of a run are in its name; a word of the folder's name as it is. */
function nameOf(names: readonly string[], parameters: Parameters): string {
  const word = names.includes(VARIANT) ? parameters[VARIANT] : undefined;
  const others = names.filter((name) => name !== VARIANT);
  return [...(typeof word === 'string' ? [folderText(word)] : []), ...toldValues(others, parameters)].join('_');
}

/** The parameters of each run of a group: those in its files, and those in names where the files tell no two runs apart. */
function parametersOf(members: readonly Placed[]): Parameters[] {
  const known = members.map(({ facts }) => facts.parameters);
  const varying = varyingNames(known.map((parameters) => ({ parameters }))).filter((name) => !namesRepetition(name));
  if (members.length < 2 || varying.length > 0) return known;
  const words = members.map(({ place }) => nameWords(place));
  const rests = new Set(words.map(({ rest }) => rest));
  // A word that several runs share, and others do not, is what they are.
  const isVariant = rests.size > 1 && rests.size < members.length;
  return words.map(({ parameters, rest }, index) => {
    return { ...(isVariant ? { [VARIANT]: rest } : {}), ...parameters, ...known[index]! };
  });
}

/** A text as the name of a run or a group. */
function nameText(text: string): string {
  const safe = folderText(text.replaceAll('/', '.')).replace(/^[^A-Za-z0-9_]+/, '');
  return safe.length <= 200 ? safe : `${safe.slice(0, 90)}-${safe.slice(-90)}`;
}

/** Runs of several groups that have one name are told apart by their groups, others by a number. */
function distinct(heads: readonly RowHead[]): RowHead[] {
  const groups = groupBy(heads, ({ name }) => name);
  const named = heads.map((head) => {
    const isShared = new Set(groups.get(head.name)!.map(({ group }) => group)).size > 1;
    return isShared ? { ...head, name: nameText(`${head.group}_${head.name}`) } : head;
  });
  const names = numbered(named.map(({ name }) => name));
  return named.map((head, index) => ({ ...head, name: names[index]! }));
}

/** The texts, of which those that were there before have a number behind them. */
function numbered(texts: readonly string[]): string[] {
  const taken = new Set<string>();
  return texts.map((text) => {
    let own = text;
    for (let count = 2; taken.has(own); count++) own = `${text}-${count}`;
    taken.add(own);
    return own;
  });
}

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
function isOnlyWords(name: string): boolean {
  return nameWords(name).rest === '';
}
