import { Option } from 'commander';
import { logLevels, requestLogs } from '../config.ts';
import { UsageError } from '../errors.ts';
import type { LogChange, Logging } from '../observability/log-changes.ts';
import { type AppCommand, printLines } from './command.ts';

type LogOptions = Partial<Logging> & { readonly reset: boolean };

export function addLog(program: AppCommand): void {
  program
    .addLeaf('log', 'change what the running service logs, until it starts again')
    .withExamples('log --level debug', 'log --level info --requests all', 'log --reset')
    .withNotes(`Every instance that runs on this store applies it within 2 seconds. What is not
named is as in its settings. An instance that starts later has its settings.`)
    .addOption(new Option('--level <level>', 'the lowest level, as LOG_LEVEL').choices(logLevels))
    .addOption(new Option('--requests <which>', 'which requests, as LOG_REQUESTS').choices(requestLogs))
    .option('--reset', 'log as the settings say', false)
    .does(async ({ withStore }, { reset, ...named }: LogOptions) => {
      const change: LogChange = { level: named.level ?? null, requests: named.requests ?? null };
      const { level, requests } = change;
      if (reset === (level !== null || requests !== null))
        throw new UsageError('name --level, --requests or both, or --reset');
      await withStore(({ changeLog }) => changeLog(change));
      const what = Object.entries(named).map(([name, value]) => `${name} ${value}`);
      const how = reset ? 'as their settings say' : `with ${what.join(' and ')}`;
      return printLines(change, `the running instances log ${how}`);
    });
}
