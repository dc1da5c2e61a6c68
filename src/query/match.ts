import { assertNever } from '../base/assert-never.js';
import { anyParameterOf } from '../base/scalar.js';
import { numberOf } from './parser.js';
import type { Operator, RunQuery } from './query.js';
import { valueText } from './text.js';
import { errorsOf, type Fact, factOf, type Field, fields, namesOf, type QueriedRun } from './words.js';

type RunTest = (run: QueriedRun) => boolean;

/**
 * Compiles a query into a test. A value that a run does not have is not equal to anything, nor above or below it.
 *
 * @param now Unix ms, for ages.
 */
export function runTest(query: RunQuery, now: number): RunTest {
  switch (query.kind) {
    case 'all': {
      const tests = query.parts.map((part) => runTest(part, now));
      return (run) => tests.every((test) => test(run));
    }
    case 'any': {
      const tests = query.parts.map((part) => runTest(part, now));
      return (run) => tests.some((test) => test(run));
    }
    case 'not': {
      const test = runTest(query.part, now);
      return (run) => !test(run);
    }
    case 'word': {
      const pattern = glob(query.text, 'part');
      return (run) => [...namesOf(run), ...errorsOf(run)].some((text) => pattern.test(text));
    }
    case 'field':
      return fieldTest(query.field, query.choices);
    case 'fact':
      return factTest(query.fact, query.operator, { value: query.value, now });
    case 'value':
      return valueTest(query.key, query.operator, query.value);
    default:
      return assertNever(query);
  }
}

function fieldTest(field: Field, choices: readonly string[]): RunTest {
  const { read, words, isProse = false } = fields[field];
  const extent = isProse ? 'part' : words === null ? 'whole' : 'beginning';
  const patterns = choices.map((choice) => glob(choice, extent));
  return (run) => read(run).some((text) => patterns.some((pattern) => pattern.test(text)));
}

function glob(text: string, extent: 'whole' | 'beginning' | 'part'): RegExp {
  const body = text
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*');
  return new RegExp(extent === 'part' ? body : extent === 'beginning' ? `^${body}` : `^${body}$`, 'i');
}

function factTest(fact: Fact, operator: Operator, { value, now }: { value: number; now: number }): RunTest {
  return (run) => {
    const actual = factOf(run, fact, now);
    if (operator === '!=') return actual !== value;
    return actual !== null && holds(actual, operator, value);
  };
}

/** Tests the run's parameter of that name, or else the last value of its metric. */
function valueTest(key: string, operator: Operator, wanted: string): RunTest {
  const equals: RunTest = (run) => isEqual(ownValue(run, key), wanted);
  if (operator === '=') return equals;
  if (operator === '!=') return (run) => !equals(run);
  const limit = Number(wanted);
  return (run) => {
    const actual = ownValue(run, key);
    return typeof actual === 'number' && holds(actual, operator, limit);
  };
}

type OwnValue = QueriedRun['parameters'][string] | undefined;

function ownValue(run: QueriedRun, key: string): OwnValue {
  const parameter = anyParameterOf(run, key);
  const { metrics } = run;
  if (parameter !== undefined) return parameter;
  if (!Object.hasOwn(metrics, key)) return undefined;
  // A metric that is null is NaN.
  return metrics[key] ?? 'nan';
}

function isEqual(value: OwnValue, wanted: string): boolean {
  if (value === undefined) return false;
  if (typeof value === 'number' && value === numberOf(wanted)) return true;
  const text = valueText(value);
  return text.toLowerCase() === wanted.toLowerCase();
}

function holds(actual: number, operator: Exclude<Operator, '!='>, limit: number): boolean {
  switch (operator) {
    case '=':
      return actual === limit;
    case '>':
      return actual > limit;
    case '<':
      return actual < limit;
    case '>=':
      return actual >= limit;
    case '<=':
      return actual <= limit;
    default:
      return assertNever(operator);
  }
}
