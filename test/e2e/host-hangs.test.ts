import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal } from '../../scripts/terminal.js';
import { hosts } from './hosts.js';
import { program, workplace } from './program.js';

/** Words of an ssh that has let us in: nothing after its arguments is read. The mark is the last word of the command. */
const letIn = '#!/bin/sh\nfor word; do :; done\nmark=${word##* }\n';
const hello = `printf %s "$mark"; printf '%sh{"wire":1,"version":"0.1.0"}\\n' "$mark"\n`;

describe('a host that hangs', () => {
  const place = workplace();
  const far = hosts(place.folder, ['alpha']);
  const ssh = (text: string) => far.script('bin', 'ssh', text);
  beforeEach(() => void (process.env['MEMRL_HOST_PATIENCE_MS'] = '2500'));
  afterEach(() => void delete process.env['MEMRL_HOST_PATIENCE_MS']);

  const stories: { when: string; does: () => void; waits: RegExp; says: RegExp }[] = [
    {
      when: 'before the login',
      does: () => ssh('#!/bin/sh\nexec sleep 600\n'),
      waits: /^connecting to alpha …/m,
      says: /alpha has not let us in for 2\.5s, and asks nothing\.[^]*→ Look where `ssh -v alpha true` stops\./,
    },
    {
      when: 'after the login, in its profile',
      does: () => far.script('login', 'sh', '#!/bin/sh\necho Loading modules.\nexec sleep 600\n'),
      waits: /alpha has let us in; its login shell is still reading its profile …/,
      says: /alpha let us in, but its login shell has not come to memrl-tui for 2\.5s\.[^]*→ Try `ssh alpha`/,
    },
  ];
  it.each(stories)('$when, is named in a terminal, with what is missing', async ({ does, waits, says }) => {
    does();
    for (const words of [['attach'], ['ls']]) {
      const terminal = place.open(...words, '--host', 'alpha');
      await terminal.waitFor((lines) => waits.test(lines.join('\n')));
      expect(await terminal.ended()).toMatchObject({ code: 2 });
      expect(terminal.lines().join('\n')).toMatch(says);
    }
  });

  it.each(stories)('$when, is named where nobody has a terminal', async ({ does, waits, says }) => {
    does();
    const { code, out, err } = await place.runShipped('ls', '--host', 'alpha');
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(waits)]);
    expect(err).toMatch(says);
  });

  it('after its hello, is named too', async () => {
    ssh(`${letIn}${hello}exec sleep 600\n`);
    const terminal = place.open('attach', '--host', 'alpha');
    expect(await terminal.ended()).toMatchObject({ code: 2 });
    expect(terminal.lines().join('\n')).toMatch(/memrl-tui was started there, but has said nothing for 2\.5s/);
  });

  it('is left at once by Ctrl-C, with the terminal as it was', async () => {
    process.env['MEMRL_HOST_PATIENCE_MS'] = '600000';
    ssh(
      '#!/bin/sh\nstty -echo -icanon </dev/tty\ntrap "stty echo icanon </dev/tty; exit 130" INT\nwhile :; do sleep 1; done\n',
    );
    for (const verb of ['attach', 'ls']) {
      const terminal = openTerminal({
        ...{ command: 'sh', columns: 120, rows: 40, cwd: place.folder() },
        args: ['-c', `trap : INT; "${process.execPath}" "${program}" ${verb} --host alpha; echo left with $?; stty -a`],
      });
      await terminal.waitFor((lines) => lines.includes('connecting to alpha …'));
      terminal.write('\u0003');
      await terminal.ended();
      expect(terminal.output).toMatch(/left with (130|2)[^]* icanon [^]* echo /);
    }
  });
});

describe('a host that sends something else', () => {
  const place = workplace();
  const far = hosts(place.folder, ['alpha']);
  const attached = async (text: string) => {
    far.script('bin', 'ssh', text);
    const terminal = place.open('attach', '--host', 'alpha');
    const { code } = await terminal.ended();
    expect(code).toBe(2);
    return terminal.lines().join(' ');
  };

  it.each([
    { what: 'lines without end', text: '#!/bin/sh\nexec yes "Have a nice day"\n', says: 'Have a nice day' },
    { what: 'a line without end', text: "#!/bin/sh\ntr '\\0' x </dev/zero\n", says: 'xxxxxxxx' },
  ])('is named with $what that a login prints', async ({ text, says }) => {
    const shown = await attached(text);
    expect(shown).toContain('alpha let us in and sent more than 256 KiB that are not of memrl-tui: ');
    expect(shown).toContain(says);
    expect(shown).toContain('~/.bashrc');
  });

  it('is named with a line without end from the program there, before the memory is full', async () => {
    const shown = await attached(`${letIn}${hello}tr '\\0' x </dev/zero\n`);
    expect(shown).toContain('alpha sent a line of more than 64 MiB, which is none of memrl-tui: … xxxx');
  });

  it('changes no output of a program where its shell prints a little at each login', async () => {
    const rest = readFileSync(far.at('bin', 'ssh'), 'utf8').replace('#!/bin/sh', '');
    far.script('bin', 'ssh', `#!/bin/sh\necho Hello.\n${rest}`);
    far.write('alpha', 'a.yaml', 'command: [echo]\n');
    const { out, err } = await place.runShipped('--host', 'alpha', 'a.yaml', '--dry-run', '--json');
    expect(JSON.parse(out)).toMatchObject({ sweep: 'a' });
    expect(err).toContain('Hello.\n');
  });
});

describe('an ssh that asks', () => {
  const place = workplace();
  const far = hosts(place.folder, ['alpha']);
  afterEach(() => void delete process.env['MEMRL_HOST_PATIENCE_MS']);

  it('is given as long as the person takes, and nothing is written over its question', async () => {
    process.env['MEMRL_HOST_PATIENCE_MS'] = '2500';
    const rest = readFileSync(far.at('bin', 'ssh'), 'utf8').replace('#!/bin/sh', '');
    // The second question comes when time would be up.
    const ask = `#!/bin/sh\nexec 7<>/dev/tty\nprintf 'password: ' >&7\n(sleep 4; printf 'still there? ' >&7) &\nread -r word <&7\necho "$word" >word\nexec 7>&-\n`;
    far.script('bin', 'ssh', `${ask}${rest}`);
    const terminal = place.open('attach', '--host', 'alpha');
    await terminal.waitFor((lines) => lines[0]!.startsWith('password: still there?'));
    terminal.write('secret\r');
    await terminal.waitFor((lines) => lines.join('\n').includes('alpha: There is no runs directory'));
    expect(place.read('word')).toBe('secret\n');
    expect(terminal.output).not.toContain('connecting');
  });
});
