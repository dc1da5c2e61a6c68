import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { columnsOf, tableLines } from '../../text/table.js';
import { ownPrograms } from '../ports.js';
import { outputWidth, print, printData } from '../terminal.js';
import { type AnswerName, answerNames, answerTable } from './answer-table.js';

/** `memrl-tui schema [VERB]`: the JSON Schema of what a verb prints with `--json`, or a list of all answers. */
export async function printSchema([word]: readonly string[]): Promise<number> {
  if (word === undefined) print(answerLines());
  else await printData(textOf(answerOf(word)));
  return 0;
}

/** @throws {UserError} Where the program was copied without its documentation, as to a host. */
function textOf(name: AnswerName): string {
  const path = join(ownPrograms(), '../docs/json', `${name}.json`);
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UserError(`There is no ${path}.`, 'Ask the memrl-tui of the machine that has all of the package.', {
      cause,
    });
  }
}

function answerLines(): string[] {
  const column = columnsOf(answerNames.map((name) => ({ name, ...answerTable[name] })));
  const columns = [
    column('left')('answer', ({ name }) => name),
    column('left')('of', ({ lines }) => lines.join(', '), 2),
    column('left')('is', ({ about }) => about, 1),
  ];
  return tableLines(columns, outputWidth(Infinity));
}

/** The answer of that name, or else the first of the verb. @throws {UserError} */
function answerOf(word: string): AnswerName {
  const named = answerNames.find((name) => name === word) ?? answerNames.find((name) => verbsOf(name).includes(word));
  if (named !== undefined) return named;
  const known = new Set([...answerNames, ...answerNames.flatMap(verbsOf)]);
  throw new UserError(
    `There is no schema of \`${word}\`.`,
    `${didYouMean(word, [...known])} \`memrl-tui schema\` lists what there is.`,
  );
}

/** The verbs that print it, by the first words of its lines; `FILE` and `VERB` stand for any. */
function verbsOf(name: AnswerName): string[] {
  return answerTable[name].lines.flatMap((line) => /^[a-z]+/.exec(line)?.[0] ?? []);
}
