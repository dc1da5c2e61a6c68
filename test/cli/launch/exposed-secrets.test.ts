import { describe, expect, it } from 'vitest';
import { exposedSecrets } from '../../../src/cli/launch/notes.js';
import { plan } from '../../supervisor/testbed.js';

const environment = { HOME: '/home/me', WANDB_API_KEY: 'correct-horse-battery' };
const runs = (...commands: string[][]) =>
  plan(
    '/runs',
    's',
    commands.map((argv, index) => ({ name: `A_s${index}`, argv: ['train', ...argv] })),
  ).runs;

describe('a secret in a command line', () => {
  it.each<{ what: string; argv: string[] }>([
    { what: 'the value of a variable of the person', argv: ['--key=correct-horse-battery'] },
    { what: 'the word after a flag with a secret’s name', argv: ['--api-key', '0123456789abcdef'] },
    { what: 'what looks like a key', argv: [`hf_${'aB3'.repeat(12)}`] },
  ])('is warned of: $what', ({ argv }) => {
    const words = exposedSecrets(runs(['--lr=0.1'], argv), environment);
    expect(words).toMatch(/^The command of A_s1 holds a secret, which everyone .* `ps`\. Let the program read it/);
    expect(words).not.toContain(argv.at(-1));
  });

  it('is warned of once for all runs', () => {
    const argv = ['--key=correct-horse-battery'];
    expect(exposedSecrets(runs(argv, argv, argv), environment)).toMatch(
      /^The commands of 3 runs \(A_s\{0,1,2\}\) hold/,
    );
  });

  it('is none where there is none', () => {
    expect(exposedSecrets(runs(['--home', '/home/me', '--tokens=1024', '--key=adam']), environment)).toBeNull();
  });

  it('may come from the sweep file', () => {
    const [run] = runs(['hush-hush-hush']);
    expect(exposedSecrets([{ ...run!, env: { DB_PASSWORD: 'hush-hush-hush' } }], {})).toMatch(/^The command of A_s0/);
  });
});
