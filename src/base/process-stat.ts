/** Fields of /proc/PID/stat that say who a process is and whom it belongs to. */
export type ProcessStat = {
  pid: number;
  /** What it calls itself, at most 15 characters. */
  name: string;
  /** One letter; Z is dead and X nearly. */
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Whether it belongs to a terminal. */
  terminal: boolean;
  startTime: string;
  /**
   * Where its environment begins in memory: another place, chosen at random, with every program that it executes. '0' where
   * that may not be read, as another user's environment may not; empty where there is no /proc.
   */
  image: string;
};

/** After the name: state, ppid, pgrp, session, tty_nr; as fields 22 and 50 starttime and env_start. */
const statFields = /^(\S) (\d+) (\d+) (\d+) (-?\d+) (?:\S+ ){14}(\d+)(?: (?:\S+ ){27}(\d+))?/;

/** The command name may hold spaces and parentheses, so the fields are counted from the last `)`. */
export function parseStat(text: string): ProcessStat | null {
  const end = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = statFields.exec(text.slice(end + 2));
  if (end < 0 || !(pid > 0) || fields === null) return null;
  const [, state, parent, group, session, terminal, startTime, image] = fields;
  const name = text.slice(text.indexOf('(') + 1, end);
  const ids = { pid, name, state: state!, parent: Number(parent), group: Number(group), session: Number(session) };
  return { ...ids, terminal: terminal !== '0', startTime: startTime!, image: image ?? '0' };
}

/** A zombie writes nothing any more. */
export function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}
