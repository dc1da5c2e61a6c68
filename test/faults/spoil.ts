import { runFiles } from '../../src/contract/files.js';

/** Files of a run's directory, and what a program, or a person, may put in the place of each. */
const files = [
  ...[runFiles.metrics, runFiles.checkpoints, 'config.json', runFiles.log, runFiles.record],
  ...[`${runFiles.attempts}/$MEMRL_ATTEMPT/${runFiles.exit}`, `${runFiles.attempts}/$MEMRL_ATTEMPT/${runFiles.pid}`],
];
const ways: Readonly<Record<string, string>> = {
  // Whoever opens it waits for the other end.
  pipe: 'mkfifo "$file"',
  // ELOOP.
  loop: 'ln -s "$file" "$file"',
  // EISDIR.
  folder: 'mkdir "$file"',
  // It has no end.
  device: 'ln -s /dev/zero "$file"',
  // EACCES, but for root.
  closed: 'echo "{}" > "$file"; chmod 000 "$file"',
};

/** Every file with everything in its place. */
export const spoilings = files.flatMap((file) => Object.keys(ways).map((way) => ({ file, way })));

/** Shell text that spoils one file of the run's directory: the one whose number is that of the run's name. */
export const spoilScript = `case \${MEMRL_RUN##*spoiler} in
${spoilings.map(({ file, way }, number) => `${number}) file="$MEMRL_RUN_DIR/${file}"; rm -rf "$file"; ${ways[way]} ;;`).join('\n')}
esac`;
