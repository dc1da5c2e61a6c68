import { UserError } from '../base/user-error.js';
import { ask, hasPerson, remark } from './terminal.js';

/** What is about to be done. `disturbs`: it ends runs, or keeps them from going on. */
export type Intention = { readonly verb: string; readonly count: number; readonly disturbs: boolean };

/**
 * Whether it may be done: to one run always, to several once the person at the terminal agrees or has said so beforehand
 * (`-y`). Where nobody can be asked, what disturbs no run is done.
 *
 * @throws {UserError} Where nobody can be asked, and runs would be disturbed.
 */
export async function isAgreed({ verb, count, disturbs }: Intention, { yes }: { yes?: boolean }): Promise<boolean> {
  if (count <= 1 || yes === true) return true;
  if (hasPerson()) return confirm('Go on?');
  if (!disturbs) return true;
  throw new UserError(
    `${verb} is meant for ${count} runs, and there is no terminal to ask at. Nothing was done.`,
    'Write -y if it is meant; --dry-run says which runs it would be.',
  );
}

async function confirm(question: string): Promise<boolean> {
  const agreed = /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
  if (!agreed) remark('Nothing was done.');
  return agreed;
}
