import type { Place } from '../../file/diagnostic.js';
import type { Scope } from './expansion.js';
import { type Part, ScriptMistake, type ScriptNode, type Word } from './script-node.js';
import { isList, joined, plainText, type Text } from './script-values.js';

/** Whether the inside of a loop is one command, or one loop, besides assignments and what is left out anyway. */
export function isIterationPlain(body: readonly ScriptNode[], isDropped: (words: readonly Word[]) => boolean): boolean {
  const kept = body.filter((node) => node.kind !== 'simple' || (node.words.length > 0 && !isDropped(node.words)));
  const assigned = body.flatMap((node) => (node.kind === 'simple' ? node.assignments : []));
  const words = assigned.flatMap(({ value }) => (Array.isArray(value) ? (value as readonly Word[]) : [value as Word]));
  const isPrepared = body.some(
    (node) =>
      node.kind === 'simple' && /^(?:cd|mkdir|cp|mv|ln|rm|source|\.|eval|exec|module|git)$/.test(firstText(node.words)),
  );
  const [only] = kept;
  if (kept.length !== 1 || isPrepared || words.some(({ parts }) => parts.some(isUnknown))) return false;
  if (only!.kind === 'for' || only!.kind === 'count') return true;
  if (only!.kind === 'pipe')
    return only!.commands.length === 2 && ['tee', 'parallel'].includes(firstText(only!.commands[1]!.words));
  return (
    only!.kind === 'simple' &&
    !only!.redirects.some(({ operator }) => operator.includes('<')) &&
    !only!.words.some(({ parts }) => parts.some(isUnknown))
  );
}

function firstText(words: readonly Word[]): string {
  const [part] = words[0]?.parts ?? [];
  return part?.kind === 'text' ? part.text : '';
}

/** Whether only a shell can expand a part. */
function isUnknown(part: Part): boolean {
  return part.kind === 'odd' || (part.kind === 'command' && !/^\s*(?:seq|cat|sed|awk|echo)\s/.test(part.source));
}

type Iteration = Place & { readonly inside: Place };
/** `settings`: lines such as `set -e` that hold for it. */
type ScriptContext = Pick<Scope, 'variables'> & { readonly script: string; readonly settings: readonly string[] };

/**
 * One pass through a loop as a command: `env lr=.1 bash -c '…'`, with the text as it stands in the script.
 *
 * @throws {ScriptMistake} If a pass depends on others.
 */
export function wholeIteration(node: Iteration, { script, settings, variables }: ScriptContext): Text[] {
  const source = script.slice(node.inside.start, node.inside.end).trim();
  refuseDependent(source, node);
  const names = [...variables.keys()].filter((name) => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(source));
  const assignments = names.map((name) => {
    const variable = variables.get(name)!;
    if (isList(variable))
      throw new ScriptMistake(
        `the list \`${name}\` cannot be given to a part of the script.`,
        'Write the values there.',
        node,
      );
    if (
      new RegExp(
        `(?:^|[\\s;(])(?:${name}\\+?=|read\\b[^\\n;]*\\b${name}\\b|let ${name}\\b)|\\(\\([^)]*\\b${name}\\b *(?:[-+*/]?=(?!=)|\\+\\+|--)`,
        'm',
      ).test(source)
    ) {
      throw new ScriptMistake(
        `\`${name}\` changes inside, so that a pass may depend on the one before.`,
        'Give it another name there.',
        node,
      );
    }
    return joined([plainText(`${name}=`), variable]);
  });
  const shell = [plainText('bash'), plainText('-c'), plainText([...settings, source].join('\n'))];
  return assignments.length === 0 ? shell : [plainText('env'), ...assignments, ...shell];
}

function refuseDependent(source: string, place: Place): void {
  const bare = source.replace(/#[^\n]*/g, '');
  const [, word] = /(?:^|[\s;&|])(break|continue|exit|return)\b/.exec(bare) ?? [];
  if (word !== undefined)
    throw new ScriptMistake(
      `\`${word}\` decides about other passes of the loop.`,
      'Write which runs there are.',
      place,
    );
  if (/(?<![&>])&(?![&>\d])\s*(?:$|[\n;])/.test(bare) || /\bwait\b/.test(bare)) {
    throw new ScriptMistake(
      'several commands, some of them in the background, are no single run.',
      'Put one command into the loop.',
      place,
    );
  }
  if (/\$(?:[0-9@*#!]|\{[0-9@*#!])/.test(bare)) {
    throw new ScriptMistake('arguments of the script itself are not known.', 'Write their values.', place);
  }
}
