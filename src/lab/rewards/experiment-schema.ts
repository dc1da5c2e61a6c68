/** The YAML of an experiment: its keys and types, in both forms of the source system. */
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { errorText, UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';
import { shown } from './params.js';

const word = z.string('a text').min(1, 'a text that is not empty');
const finite = z.number('a finite number');
const share = z.number('a number from 0 to 1').min(0, 'a number from 0 to 1').max(1, 'a number from 0 to 1');
const params = z
  .record(z.string(), z.unknown(), 'a map of parameters')
  .nullish()
  .transform((value) => value ?? {});

const Id = z.string('a text').regex(/^[\w.+-]+$/, 'a name of letters, digits, and . + - _');
const Component = z.strictObject(
  {
    name: word,
    role: z.enum(['retain', 'forget'], 'retain or forget'),
    scale: finite.default(1),
    params,
    id: Id.optional(),
  },
  'a map with `name` and `role`',
);
const Detector = z.strictObject(
  { name: word, params, component: word.nullish(), false_positive_rate: share.default(0) },
  'a map with `name`, or null',
);
export type DetectorSource = z.infer<typeof Detector>;

const Training = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()], 'a number, a text, true, false or null'),
  'a map of settings',
);
const common = {
  name: word.nullish(),
  rh_detector: Detector.nullish(),
  rh_detector_recall: share.default(1),
  hack_freq_detector: Detector.nullish(),
  training: Training.nullish(),
};

const Single = z.strictObject({
  ...common,
  reward: z
    .strictObject({ name: word.default('happy_binary'), params }, 'a map with `name`, or with `components`')
    .nullish(),
});
const Components = z.strictObject({
  ...common,
  reward: z.strictObject({
    components: z.array(Component, 'a list of components').min(1, 'at least one component'),
    max_reward: finite.nullish(),
    normalize: z.boolean('true or false').default(false),
  }),
});

/** A file's values, and its top-level keys: some must be present even if their value is null. */
export type ExperimentSource = { readonly keys: ReadonlySet<string> } & (
  | { readonly form: 'single'; readonly file: z.infer<typeof Single> }
  | { readonly form: 'components'; readonly file: z.infer<typeof Components> }
);

/** @param path For errors. @throws UserError with every error and its place. */
export function parseExperiment(text: string, path: string): ExperimentSource {
  const value = valueOf(text, path);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const raw = value === null ? {} : isMap ? (value as Record<string, unknown>) : null;
  if (raw === null) {
    throw new UserError(
      `${path} holds no map of settings.`,
      'Begin it with `reward:`, and put what belongs to it below.',
    );
  }
  const keys = new Set(Object.keys(raw));
  const { reward } = raw;
  const hasComponents = typeof reward === 'object' && reward !== null && 'components' in reward;
  if (hasComponents) return { form: 'components', keys, file: checked(Components, raw, path) };
  return { form: 'single', keys, file: checked(Single, raw, path) };
}

function valueOf(text: string, path: string): unknown {
  try {
    const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'error' });
    // An unknown YAML tag is only a warning, and the value below it would be read as plain text.
    const [error] = [...document.errors, ...document.warnings];
    if (error === undefined) return document.toJS({ maxAliasCount: 100 }) as unknown;
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw notYaml(`${path}:${line}`, error.message, error);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    // The cause: too many aliases, or brackets deeper than the stack.
    throw notYaml(path, errorText(cause), cause);
  }
}

function notYaml(place: string, why: string, cause: unknown): UserError {
  return new UserError(`${place} is not YAML: ${why}`, 'Correct that line or the one above it.', { cause });
}

function checked<S extends z.ZodType>(schema: S, value: unknown, path: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.flatMap((issue) => mistakesOf(issue, value));
  const fixes = new Set(mistakes.map(({ fix }) => fix));
  throw new UserError(mistakes.map(({ problem }) => `${path}: ${problem}`).join('\n'), [...fixes].join(' '));
}

type Mistake = { readonly problem: string; readonly fix: string };

function mistakesOf(issue: z.core.$ZodIssue, value: unknown): Mistake[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const near = nearest(key, knownKeys);
      const place =
        issue.path.length === 0 ? `Put \`${key}\` below \`training:\`, or remove it.` : `Remove \`${key}\`.`;
      const fix = near === null ? place : `Did you mean \`${near}\`?`;
      return { problem: `unknown key \`${placeText([...issue.path, key])}\`.`, fix };
    });
  }
  const place = placeText(issue.path);
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  if (found === undefined) {
    return [{ problem: `\`${place}\` is missing; expected ${issue.message}.`, fix: `Add \`${place}\`.` }];
  }
  return [
    { problem: `\`${place}\`: expected ${issue.message}, but found ${shown(found)}.`, fix: `Correct \`${place}\`.` },
  ];
}

/** Keys of all mappings: a key in the wrong one is as likely as a misspelt one. */
const knownKeys = [
  ...Object.keys(common),
  ...['reward', 'components', 'max_reward', 'normalize'],
  ...['role', 'scale', 'params', 'id', 'component', 'false_positive_rate'],
];

/** `reward.components[1].role`. */
function placeText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
