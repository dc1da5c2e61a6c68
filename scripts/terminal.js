/**
 * A terminal without a screen: runs a command in a real pseudo-terminal and keeps what a person would see.
 * The pictures for the README, the end-to-end tests and the latency bench all look through it.
 */
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';

/**
 * @param {{ command: string, args?: readonly string[], columns: number, rows: number, cwd?: string,
 *           environment?: Record<string, string | undefined> }} options
 */
export function openTerminal({ command, args = [], columns, rows, cwd = process.cwd(), environment = process.env }) {
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 200 });
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
  const child = pty.spawn(command, [...args], { cols: columns, rows, cwd, name: env.TERM ?? 'xterm-256color', env });
  const listeners = new Set();
  const terminal = {
    emulator: screen,
    pid: child.pid,
    /** Bytes the program has written so far. */
    bytes: 0,
    /** Everything it wrote, as text. */
    output: '',
    exit: null,
    write: (keys) => child.write(keys),
    kill: (signal) => child.kill(signal),
    resize(width, height) {
      child.resize(width, height);
      screen.resize(width, height);
    },
    /** Reads no more of what the program writes, as a line that hangs does; again with `false`. */
    hang: (hangs = true) => (hangs ? child.pause() : child.resume()),
    /** The rows on the screen, trailing spaces cut. */
    lines: () => Array.from({ length: screen.rows }, (_, row) => lineAt(screen, row)?.translateToString(true) ?? ''),
    isAlternate: () => screen.buffer.active.type === 'alternate',
    /** Calls back after each piece of output has been drawn. Returns the end of it. */
    onDrawn(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Resolves with the rows once `condition` holds for them; rejects, with what was there instead, after `ms`. */
    waitFor: (condition, ms = 60_000) => waitFor(terminal, condition, ms),
    /** Resolves with `{ code, signal }` once the program has ended and its output is drawn. */
    ended: () => ended(terminal),
    close() {
      if (terminal.exit === null) child.kill('SIGKILL');
      screen.dispose();
    },
  };
  const changed = () => listeners.forEach((listener) => listener());
  child.onData((text) => {
    terminal.bytes += Buffer.byteLength(text);
    terminal.output += text;
    screen.write(text, changed);
  });
  // Answers to what the program asks the terminal.
  screen.onData((text) => terminal.exit === null && child.write(text));
  child.onExit(({ exitCode, signal }) => {
    terminal.exit = { code: exitCode, signal: signal ?? 0 };
    screen.write('', changed);
  });
  return terminal;
}

function lineAt(screen, row) {
  return screen.buffer.active.getLine(screen.buffer.active.viewportY + row);
}

function waitFor(terminal, condition, ms) {
  return new Promise((resolve, reject) => {
    const look = () => {
      const rows = terminal.lines();
      if (!condition(rows)) return;
      stop();
      resolve(rows);
    };
    const unsubscribe = terminal.onDrawn(look);
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`Not seen within ${ms} ms: ${condition}\n${terminal.lines().join('\n')}`));
    }, ms);
    const stop = () => {
      unsubscribe();
      clearTimeout(timer);
    };
    look();
  });
}

async function ended(terminal) {
  await terminal.waitFor(() => terminal.exit !== null);
  return terminal.exit;
}
