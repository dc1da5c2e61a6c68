import { rowOf, runVerbOf } from '../../protocol/run-verbs.js';
import { actingVerbs } from '../verbs/acting-verbs.js';
import type { Verb } from '../verb.js';
import { jsonAnswer, jsonIn } from './answer.js';
import { inputOf, optionNames, sentence, type Tool, wordsOf } from './verb-tool.js';

/** Options that every call gets, or that mean another machine. */
const settled = ['runs', 'json', 'host'];

/** A tool for each verb that acts on runs. */
export const actingTools: readonly Tool[] = actingVerbs.map((verb) => ({
  name: verb.name,
  about: sentence(verb.about),
  input: inputOf(
    verb,
    optionNames(verb).filter((name) => !settled.includes(name)),
  ),
  acts: { isFinal: isFinal(verb) },
  call: async (given, run, caller) => {
    const { value, notes } = jsonIn(await run([verb.name, '--json', ...wordsOf(verb, given)], caller));
    return jsonAnswer(value as object, notes, () => '`ls` has all runs.');
  },
}));

/** Whether no other verb undoes it. */
function isFinal({ name }: Verb): boolean {
  const verb = runVerbOf(name);
  return verb !== undefined && rowOf(verb).disturbs && rowOf(verb).undo === null;
}
