import { styleText } from 'node:util';
import { Command } from 'commander';
import type { Finding, Verdict } from '../doctor/finding.ts';
import { OperatorError } from '../errors.ts';
import { toPrintable } from '../observability/printable.ts';
import { redactKeys } from '../observability/redact-keys.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { countThings } from './count-things.ts';
import { writeJson } from './output.ts';
import type { Terminal } from './terminal.ts';

export function doctorCommand({ readConfig, clock, terminal }: CommandContext): Command {
  return new Command('doctor')
    .description('check settings, store, Redis, clock, ports and files, and suggest repairs; changes nothing')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
The exit code is 1 if there are problems, otherwise 0. Warnings do not count as
problems. Run the command as the user of the service, with the same settings.

Examples:
  animal-store doctor
  animal-store doctor --json`,
    )
    .action(async ({ json }: JsonOption) => {
      const { examine } = await import('../doctor/examine.ts');
      const findings = (await examine(readConfig, clock)).map(toShown);
      const problems = count(findings, 'problem');
      const warnings = count(findings, 'warning');
      if (json) writeJson(terminal, { problems, warnings, findings });
      else writeFindings(terminal, findings);
      if (problems > 0) throw new OperatorError(`the doctor found ${countThings(problems, 'problem')}`);
      if (!json) terminal.stdout.write(`no problems, ${countThings(warnings, 'warning')}\n`);
    });
}

/** Escapes control characters and redacts keys, because a text may come from a server or another program. */
function toShown({ is, todo, ...finding }: Finding): Finding {
  const show = (text: string) => toPrintable(redactKeys(text));
  return { ...finding, is: show(is), todo: todo === null ? null : show(todo) };
}

function count(findings: readonly Finding[], verdict: Verdict): number {
  return findings.filter((finding) => finding.verdict === verdict).length;
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const;
const [verdictWidth, checkWidth] = [9, 13];

function writeFindings({ stdout }: Terminal, findings: readonly Finding[]): void {
  const paint = (verdict: Verdict, text: string) =>
    stdout.hasColors?.() ? styleText(colours[verdict], text, { validateStream: false }) : text;
  for (const { check, verdict, is, todo } of findings) {
    stdout.write(`${paint(verdict, verdict.padEnd(verdictWidth))}${check.padEnd(checkWidth)}${is}\n`);
    if (todo !== null) stdout.write(`${' '.repeat(verdictWidth + checkWidth)}-> ${todo}\n`);
  }
}
