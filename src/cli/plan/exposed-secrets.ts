import { type Redact, redactor, redactWords } from '../../text/redaction.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { compactNames } from './compact-names.js';

/** Names are shortened to this many columns. */
const WIDTH = 60;

/**
 * What a person should know whose secrets stand in command lines: nothing of ours shows them, but the system does, to
 * everyone. Null: none do.
 *
 * @param environment Of the person: what secrets there are.
 */
export function exposedSecrets(
  runs: readonly PlannedRun[],
  environment: Readonly<Record<string, string>>,
): string | null {
  const redactors = new Map<string, Redact>();
  const exposed = runs.filter(({ argv, env }) => {
    const key = JSON.stringify(env);
    const redact = redactors.get(key) ?? redactor({ ...environment, ...env });
    redactors.set(key, redact);
    return redactWords(argv, redact).some((word, index) => word !== argv[index]);
  });
  if (exposed.length === 0) return null;
  const names = compactNames(
    exposed.map(({ name }) => name),
    WIDTH,
  );
  const whose =
    exposed.length === 1 ? `The command of ${names} holds` : `The commands of ${exposed.length} runs (${names}) hold`;
  return `${whose} a secret, which everyone on this machine can read with \`ps\`. Let the program read it from its environment, which the runs get from you, instead.`;
}
