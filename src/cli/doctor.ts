import { styleText } from 'node:util';
import type { Finding } from '../doctor/finding.ts';
import { OperatorError } from '../errors.ts';
import { toSafeText } from '../observability/safe-text.ts';
import type { AppCommand, Printed } from './command.ts';
import type { Terminal } from './output.ts';
import { countThings } from './output.ts';

export function addDoctor(program: AppCommand): void {
  program
    .addLeaf(
      'doctor',
      'check settings, store, Redis, clock, ports and files, and suggest repairs; changes nothing',
    )
    .withExamples('doctor', 'doctor --json')
    .withNotes(`The exit code is 1 if there are problems, otherwise 0. Warnings do not count as
problems. Run the command as the user of the service, with the same settings.`)
    .does(async (context) => {
      const { examine } = await import('../doctor/examine.ts');
      return printFindings((await examine(context)).map(toShown));
    });
}

function printFindings(findings: readonly Finding[]): Printed {
  const problems = findings.filter(({ verdict }) => verdict === 'problem').length;
  const warnings = findings.filter(({ verdict }) => verdict === 'warning').length;
  const failure = new OperatorError(`the doctor found ${countThings(problems, 'problem')}`);
  return {
    json: { problems, warnings, findings },
    print(terminal) {
      writeFindings(terminal, findings);
      if (problems === 0) terminal.stdout.write(`no problems, ${countThings(warnings, 'warning')}\n`);
    },
    ...(problems > 0 && { failure }),
  };
}

/** Escapes control characters and redacts keys, because a text may come from a server or another program. */
function toShown({ is, todo, ...finding }: Finding): Finding {
  return { ...finding, is: toSafeText(is), todo: todo === null ? null : toSafeText(todo) };
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const;
const verdictWidth = 9;
const checkWidth = 13;

function writeFindings({ stdout }: Terminal, findings: readonly Finding[]): void {
  for (const { check, verdict, is, todo } of findings) {
    const plain = verdict.padEnd(verdictWidth);
    const shown = stdout.hasColors?.()
      ? styleText(colours[verdict], plain, { validateStream: false })
      : plain;
    stdout.write(`${shown}${check.padEnd(checkWidth)}${is}\n`);
    if (todo !== null) stdout.write(`${' '.repeat(verdictWidth + checkWidth)}-> ${todo}\n`);
  }
}
