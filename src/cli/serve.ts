import type { App } from '../app.ts';
import { secondMs } from '../clock.ts';
import type { AppCommand, CommandContext } from './command.ts';
import type { Terminal } from './output.ts';
import { writeJson } from './output.ts';

/** Time in ms that a start may continue after SIGTERM. Then the process ends, and an open transaction is rolled back. */
const startEndMsMax = 5 * secondMs;

export function addServe(program: AppCommand): void {
  program
    .addLeaf('serve', 'run the service')
    .withExamples(
      'serve',
      'PORT=80 ENVIRONMENT=production DATABASE_URL=sqlite:/var/lib/animal-store/store.db animal-store serve',
    )
    .withNotes(`With --json, the addresses of the service go to standard output, and the log
goes to standard error.`)
    .action(({ json = false }: { readonly json?: boolean }) => serve(program.context, json));
}

async function serve(context: CommandContext, json: boolean): Promise<void> {
  const { readConfig, misnamed, clock, terminal, lifetime } = context;
  const config = readConfig();
  const stopped = lifetime.untilStopped();
  // Other commands do without the logger and the service, and so start faster.
  const { createLog } = await import('../observability/log.ts');
  const log = createLog(config.logLevel, json ? terminal.stderr : terminal.stdout);
  log.info('starting');
  for (const { variable, meant } of misnamed)
    log.warn({ variable }, `${variable} is not a setting and changes nothing: is ${meant} meant?`);
  let isServing = false;
  void stopped.then(() => {
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
  else writeWelcome(terminal, app, `${app.url}/v1`, new URL('docs', baseUrl).href);
  log.info({ url: baseUrl, opsUrl: app.opsUrl, environment: config.environment }, `serving ${baseUrl}`);
  await stopped;
  if (config.drainMs > 0)
    log.info({ ms: config.drainMs }, 'draining: /readyz is 503, and requests are served');
  try {
    await app.drain(lifetime.untilStoppedAgain());
    log.info('stopping: no new connections are accepted');
    await app.close();
  } finally {
    // A pending DNS query or a leaked connection of a driver could keep the process alive.
    lifetime.endWithin(secondMs / 2);
  }
  log.info('stopped');
}

function writeWelcome({ stdout }: Terminal, { firstKey }: App, localUrl: string, docsUrl: string): void {
  if (firstKey === null) return;
  const authorization = `-H 'Authorization: Bearer ${firstKey.key}'`;
  const add = `-H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1}' '${localUrl}/pets'`;
  stdout.write(`
The store is empty. This is its first key, on the plan ${firstKey.plan}. It is shown only once:

  ${firstKey.key}

Paste this line to add an animal and list it:

  curl -sS ${authorization} ${add} --next -sS ${authorization} '${localUrl}/pets'

Documentation: ${docsUrl}

`);
}
