import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import { parsePlan } from '../../spec/plan-text.js';
import type { Plan } from '../../spec/planned-run.js';
import { isSecretName, redactor, redactWords } from '../../text/redaction.js';
import { type Check, type Finding, ok, type Place, warn } from './check.js';

/** Bytes of plans that are read. */
const LARGEST = 32 * 2 ** 20;

export const secrets: Check = { topic: 'Survival', name: 'Secrets', look: lookAtSecrets };

/** The command line of a process can be read by everyone on the machine; a sweep file is copied beside its runs. */
async function lookAtSecrets({ runsDirectory, environment }: Place): Promise<Finding> {
  const folder = join(runsDirectory, supervisorFiles.directory, supervisorFiles.plans);
  const redact = redactor(environment);
  const exposed = new Map<string, { commands: number; settings: number }>();
  for (const plan of await plansIn(folder)) {
    const commands = plan.runs.filter(({ argv }) =>
      redactWords(argv, redact).some((word, index) => word !== argv[index]),
    );
    const settings = plan.runs.filter(({ env }) => Object.keys(env).some(isSecretName));
    if (commands.length + settings.length > 0) {
      exposed.set(plan.sweep, { commands: commands.length, settings: settings.length });
    }
  }
  return judgeSecrets(exposed);
}

/** @param exposed By sweep: runs whose command, or whose `env` in the sweep file, holds a secret. */
export function judgeSecrets(exposed: ReadonlyMap<string, { commands: number; settings: number }>): Finding {
  if (exposed.size === 0) return ok('none in commands or sweep files');
  const places = [...exposed].map(([sweep, { commands, settings }]) =>
    commands > 0 ? `${sweep}: in the commands of ${commands} runs` : `${sweep}: under \`env\` for ${settings} runs`,
  );
  return warn(
    `in plain text for others to read (${places.join('; ')})`,
    'Export them in your shell before you launch: runs get your environment, and nobody else sees it.',
  );
}

async function plansIn(folder: string): Promise<Plan[]> {
  const names = await readdir(folder).catch(() => []);
  const plans: Plan[] = [];
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const path = join(folder, name);
    if ((await stat(path)).size > LARGEST) continue;
    plans.push(...planIn(await readFile(path, 'utf8')));
  }
  return plans;
}

/** None, where it is no plan. */
function planIn(text: string): Plan[] {
  try {
    return [parsePlan(text)];
  } catch {
    return [];
  }
}
