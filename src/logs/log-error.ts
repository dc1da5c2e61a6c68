/** How programs begin to say that something broke. A warning, or a metric called `error`, is none of these. */
const signs: readonly RegExp[] = [
  /^(?:\[rank\d+\]: ?|[\s|+-]*)(?:Exception Group )?Traceback \(most recent call last\)/,
  /^(?:\s*[|+][\s|+-]*|\[rank\d+\]: ?)?(?:[A-Za-z_]\w*\.)*(?!\w*Warning\b)_?[A-Z]\w*(?:Error|Exception|Interrupt|Failure)(?:$|:\s)/,
  /^(?:Uncaught (?:\w+ )?)?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: \S/,
  /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b).*\b(?:CUDA out of memory|CUDA error\b|cuBLAS error|NCCL error|RESOURCE_EXHAUSTED)/,
  /^(?:.*[\s\]:|])?(?:FATAL|CRITICAL|ERROR)\b[\s:\]|-]*\S/,
  /^(?:\S+: )?(?:[Ff]atal|[Ee]rror)(?:\[\w+\])?: \S/,
  /^(?:.*[\s:])?(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction)(?: \(core dumped\))?$/,
  /^thread '.*' panicked at |^panic: |\bterminate called after throwing\b|\boom-kill/,
  /: (?:command not found|Cannot allocate memory)$|\bNo space left on device\b|^npm ERR! \S/,
];

/** Words that stand in every line that says so: text without them can be passed over. */
export const errorWords =
  /[Ee]rror|ERR|Exception|Interrupt|Failure|Traceback|[Ff]atal|FATAL|CRITICAL|CUDA|RESOURCE_EXH|Killed|Terminated|Aborted|Segmentation|Illegal|panic|terminate|oom-kill|not found|Cannot alloc|No space/g;

/** Whether a line of a log, safe to draw, says that something broke: where reading should begin. */
export function isErrorLine(line: string): boolean {
  return signs.some((sign) => sign.test(line));
}
