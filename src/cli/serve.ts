import { Command } from 'commander';
import type { App } from '../app.ts';
import { secondMs } from '../clock.ts';
import { createLog } from '../observability/log.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson } from './output.ts';
import type { Terminal } from './terminal.ts';

/**
 * Time in ms that a start may continue after SIGTERM. Then the process ends, and an open transaction is rolled back.
 */
const startEndMsMax = 5 * secondMs;

export function serveCommand({ readConfig, clock, terminal, lifetime }: CommandContext): Command {
  return new Command('serve')
    .description('run the service')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
With --json, the addresses of the service go to standard output, and the log
goes to standard error.

Examples:
  animal-store serve
  PORT=80 ENVIRONMENT=production DATABASE_URL=sqlite:/var/lib/animal-store/store.db animal-store serve`,
    )
    .action(async ({ json }: JsonOption) => {
      const config = readConfig();
      const log = createLog(config.logLevel, json ? terminal.stderr : terminal.stdout);
      const stopped = lifetime.untilStopped();
      log.info('starting');
      let isServing = false;
      stopped.then(() => {
        if (isServing) return;
        log.info('stopping: the start is cancelled');
        lifetime.endWithin(startEndMsMax);
      });
      const { startApp } = await import('../app.ts');
      const app = await startApp(config, clock, log);
      isServing = true;
      lifetime.onCrash((error) => log.fatal({ err: error }, 'the service failed and ends'));
      const baseUrl = config.publicUrl ?? `${app.url}/v1`;
      if (json) writeJson(terminal, { url: baseUrl, opsUrl: app.opsUrl, key: app.firstKey?.key ?? null });
      else writeWelcome(terminal, app, `${app.url}/v1`);
      log.info({ url: baseUrl, opsUrl: app.opsUrl, environment: config.environment }, `serving ${baseUrl}`);
      await stopped;
      log.info('stopping: no new connections are accepted');
      try {
        await app.close();
      } finally {
        // A pending DNS query or a leaked connection of a driver could keep the process alive.
        lifetime.endWithin(secondMs / 2);
      }
      log.info('stopped');
    });
}

/** Prints the first key, and a command line that adds an animal and lists it. */
function writeWelcome({ stdout }: Terminal, { firstKey }: App, localUrl: string): void {
  if (firstKey === null) return;
  const authorization = `-H 'Authorization: Bearer ${firstKey.key}'`;
  const add = `-H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1}' '${localUrl}/pets'`;
  stdout.write(
    [
      '',
      `The store is empty. This is its first key, on the plan ${firstKey.plan}. It is shown only once:`,
      '',
      `  ${firstKey.key}`,
      '',
      'Paste this line to add an animal and list it:',
      '',
      `  curl -sS ${authorization} ${add} --next -sS ${authorization} '${localUrl}/pets'`,
      '',
      '',
    ].join('\n'),
  );
}
