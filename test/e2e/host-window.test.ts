import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hosts } from './hosts.js';
import { eventually, workplace } from './program.js';

/** A run whose metrics go on until the folder of the host has a file `enough`. */
const sweep = (name: string) => `
name: ${name}
command:
  - sh
  - -c
  - |
    step=0
    while [ ! -e enough ] && [ $step -lt 4000 ]; do
      step=$((step+1))
      echo "{\\"step\\": $step, \\"loss\\": $step}" >> \${run_dir}/metrics.jsonl
      [ -e quiet ] || echo "line $step of seed \${seed}"
      sleep 0.05
    done
parameters: { seed: [0, 1] }
`;
const curve = /[⠁-⣿]{2}/;

describe('the window with --host', () => {
  const place = workplace();
  const far = hosts(place.folder, ['alpha', 'beta']);
  type Terminal = ReturnType<typeof place.open>;
  const shows = (terminal: Terminal, what: RegExp) => terminal.waitFor((lines) => what.test(lines.join('\n')));
  const opened = async (...args: string[]) => {
    const terminal = place.open(...args);
    await shows(terminal, /q detach/);
    return terminal;
  };

  it('launches a sweep there, and shows its curves and its log here', { tags: ['long'] }, async () => {
    far.write('alpha', 'slow.yaml', sweep('slow'));
    const terminal = await opened('--host', 'alpha', 'slow.yaml');
    await shows(terminal, curve);
    terminal.write('\u001b[B\u001b[B');
    await shows(terminal, /alpha:\/\S*runs\/slow\/s1/);
    await shows(terminal, /│ line \d+ of seed 1/);
    terminal.write('\r');
    await shows(terminal, /── log[^]*line \d+ of seed 1/);
    terminal.write('/line 7 of\r');
    await shows(terminal, /line 7 of seed 1/);
    terminal.write('q');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    expect(existsSync(place.at('runs'))).toBe(false);
    const listed = await place.runShipped('ls', '--host', 'alpha', '--json');
    expect(JSON.parse(listed.out)).toMatchObject([{ state: 'running' }, { state: 'running' }]);
  });

  it(
    'says that the connection is lost, hears keys meanwhile, and goes on when it is back',
    { tags: ['long'] },
    async () => {
      far.write('alpha', 'slow.yaml', sweep('slow'));
      await place.runShipped('--host', 'alpha', 'slow.yaml', '--detach');
      const terminal = await opened('attach', '--host', 'alpha');
      terminal.write('\u001b[B');
      await shows(terminal, /│ line \d+ of seed 0/);
      const lastLine = () =>
        Number(
          [
            ...terminal
              .lines()
              .join('\n')
              .matchAll(/line (\d+) of seed/g),
          ].at(-1)?.[1] ?? 0,
        );
      far.cut('alpha');
      await shows(terminal, /reconnecting[^]*ssh could not reach alpha\. .*Network is unreachable/);
      const before = lastLine();
      terminal.write('\u001b[B');
      await shows(terminal, /alpha:\/\S*runs\/slow\/s1/);
      far.heal('alpha');
      await terminal.waitFor((lines) => !lines.join('\n').includes('reconnecting'));
      await shows(terminal, curve);
      await terminal.waitFor(() => lastLine() > before);
      far.write('alpha', 'enough', '');
      await shows(terminal, /2 done/);
      terminal.write('q');
      expect(await terminal.ended()).toMatchObject({ code: 0 });
    },
  );

  it('shows several hosts, and does what is done to a run on its host', { tags: ['long'] }, async () => {
    for (const host of ['alpha', 'beta']) far.write(host, 'slow.yaml', sweep('slow'));
    await Promise.all(['alpha', 'beta'].map((host) => place.runShipped('--host', host, 'slow.yaml', '--detach')));
    const terminal = await opened('attach', '--host', 'alpha', '--host', 'beta');
    await shows(terminal, /slow@alpha[^]*slow@beta/);
    terminal.write(':kill sweep:slow@beta seed=1\r');
    await shows(terminal, /y\b/);
    terminal.write('y');
    const states = async (host: string) =>
      (JSON.parse((await place.runShipped('ls', '--host', host, '--json')).out) as { state: string }[]).map(
        ({ state }) => state,
      );
    await shows(terminal, /1 killed/);
    expect(await states('beta')).toEqual(['running', 'killed']);
    expect(await states('alpha')).toEqual(['running', 'running']);
    far.cut('beta', 'me@beta: Permission denied (publickey,password).');
    await shows(terminal, /beta: ssh could not reach beta\. It wants a password.*attach again/);
    far.write('beta', 'cut', '@@@ WARNING @@@\nHost key for beta has changed.\nHost key verification failed.\n');
    await shows(terminal, /beta\. Its host key is not the one that ssh knows; `ssh beta true` says/);
    expect(terminal.lines().join('\n')).not.toContain('reconnecting');
    terminal.write('q');
    await terminal.ended();
  });

  it('says where nothing was launched, and asks nothing of a terminal then', async () => {
    const terminal = place.open('attach', '--host', 'beta');
    const { code } = await terminal.ended();
    expect(code).toBe(2);
    expect(terminal.output).toContain('beta: There is no runs directory');
    await eventually(() => !existsSync(far.at('beta', 'runs')), 'nothing to be written there');
  });
});
