/** How programs begin to say that something broke. A warning, or a metric called `error`, is none of these. */
const signs: readonly RegExp[] = [
  /^(?:\[rank\d+\]: ?|[\s|+-]*)(?:Exception Group )?Traceback \(most recent call last\)/,
  /^(?:\s*[|+][\s|+-]*|\[rank\d+\]: ?)?(?:[A-Za-z_]\w*\.)*(?!\w*Warning\b)_?[A-Z]\w*(?:Error|Exception|Interrupt|Failure)(?:$|:\s)/,
  /^(?:Uncaught (?:\w+ )?)?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: \S/,
  /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b).*\b(?:CUDA out of memory|CUDA error\b|cuBLAS error|NCCL error|RESOURCE_EXHAUSTED)/,
  /^(?:.*[\s\]:|])?(?:FATAL|CRITICAL|ERROR)\b[\s:\]|-]*\S/,
  /^(?:\S+: )?(?:fatal|error)(?:\[\w+\])?: \S/i,
  /^(?:.*[\s:])?(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction)(?: \(core dumped\))?$/,
  /^thread '.*' panicked at |^panic: |\bterminate called after throwing\b|\boom-kill/,
  /: (?:command not found|Cannot allocate memory)$|\bNo space left on device\b|^npm ERR! \S/,
];

/** Whether a line of a log, safe to draw, says that something broke: where reading should begin. */
export function isErrorLine(line: string): boolean {
  return signs.some((sign) => sign.test(line));
}
