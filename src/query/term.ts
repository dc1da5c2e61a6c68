import { didYouMean } from '../text/nearest.js';
import type { Operator, RunQuery } from './reading.js';
import { QueryRefusal } from './refusal.js';
import type { Piece } from './text.js';
import { type Fact, factNames, type Field, fieldNames, fields, isFact, isField } from './words.js';

/** `status:failed,lost`. Throws a QueryRefusal. */
export function fieldTerm(name: string, value: Piece, at: number): RunQuery {
  const field = name.toLowerCase();
  if (!isField(field)) {
    const hint = `${didYouMean(field, fieldNames)} A name that holds a colon goes in quotes.`;
    throw new QueryRefusal(`there is no field ${name}:.`, hint, at);
  }
  const choices = value.choices.filter((choice) => choice !== '');
  if (choices.length === 0) {
    const example = `Write for example ${field}:${fields[field].example}.`;
    throw new QueryRefusal(`${field}: wants a value.`, example, value.at);
  }
  refuseUnknown(field, choices, value.at);
  return { kind: 'field', field, choices };
}

function refuseUnknown(field: Field, choices: readonly string[], at: number): void {
  const { words } = fields[field];
  if (words === null) return;
  const unknown = choices.find((choice) => !words.some((word) => word.startsWith(choice.toLowerCase())));
  if (unknown === undefined) return;
  throw new QueryRefusal(`there is no ${field} "${unknown}".`, didYouMean(unknown, words), at);
}

/** `N>=256`, `age>2h`. Throws a QueryRefusal. A key in quotes is a parameter or a metric, even if a fact has that name. */
export function comparison(key: Piece, sign: string, value: Piece): RunQuery {
  const operator = sign as Operator;
  if (value.text === '' && !value.quoted) {
    const example = `Write for example ${key.text}${sign}${key.text === 'age' ? '2h' : '64'}.`;
    throw new QueryRefusal(`${key.text}${sign} wants a value.`, example, value.at);
  }
  if (!key.quoted && isFact(key.text)) {
    return { kind: 'fact', fact: key.text, operator, value: factValue(key.text, sign, value) };
  }
  const isOrder = operator !== '=' && operator !== '!=';
  if (isOrder && numberOf(value.text) === null) {
    const fix = `Write for example ${key.text}${sign}64; texts are compared with = and !=.`;
    throw new QueryRefusal(`${key.text}${sign}${value.text} wants a number after ${sign}.`, fix, value.at);
  }
  return { kind: 'value', key: key.text, operator, value: value.text };
}

const unitSeconds: Record<string, number> = { '': 1, s: 1, m: 60, min: 60, h: 3600, d: 86_400 };

function factValue(fact: Fact, sign: string, { text, at }: Piece): number {
  const [, digits, unit] = /^(.*?)([a-z]*)$/i.exec(text.trim()) ?? [];
  const scale = fact === 'age' ? unitSeconds[unit!] : 1;
  const value = numberOf(fact === 'age' ? digits! : text);
  if (value !== null && scale !== undefined) return value * scale;
  const wanted = fact === 'age' ? 'a time, such as 90s, 30m, 2h or 1d,' : 'a number';
  const problem = `${fact}${sign}${text} wants ${wanted} after ${sign}.`;
  throw new QueryRefusal(problem, `Known are ${factNames.join(', ')}; "${fact}" in quotes is a parameter.`, at);
}

/** A number as people and programs write it; null for anything else, also for an empty text. */
export function numberOf(text: string): number | null {
  const value = Number(text);
  return text.trim() === '' || Number.isNaN(value) ? null : value;
}
