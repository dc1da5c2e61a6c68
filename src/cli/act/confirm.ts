import { createInterface } from 'node:readline/promises';
import { hasPerson, remark } from '../terminal.js';

/** Asks the person at the terminal. True when there is none, as in a script: who writes a script has decided. */
export async function confirm(question: string): Promise<boolean> {
  if (!hasPerson()) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C are a no.
  const left = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), left]);
  terminal.close();
  const agreed = /^y(es)?$/i.test(answer.trim());
  if (!agreed) remark('Nothing was done.');
  return agreed;
}
