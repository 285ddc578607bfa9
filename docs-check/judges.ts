import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = import.meta.dirname;

/** Who a description is for. */
export type Audience = 'partners' | 'operators';

/** A linter for OpenAPI descriptions. */
export interface Judge {
  readonly name: string;
  /** Returns the errors and warnings of a description of an audience, one line each. */
  judge(file: string, audience: Audience): Promise<string[]>;
}

const judgeMsMax = 60_000;
/** Turns off telemetry and the check for updates. */
const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

interface RedoclyReport {
  readonly problems: readonly {
    readonly severity: string;
    readonly ruleId: string;
    readonly message: string;
  }[];
}

interface SpectralComplaint {
  readonly code: string;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export const judges: readonly Judge[] = [
  {
    name: 'Redocly with its recommended rules',
    async judge(file) {
      const config = join(folder, 'redocly.yaml');
      const { problems } = await read<RedoclyReport>(
        'redocly',
        'lint',
        file,
        '--config',
        config,
        '--format',
        'json',
      );
      return problems.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`);
    },
  },
  {
    name: 'Spectral with its OpenAPI rules and the OWASP rules',
    async judge(file, audience) {
      const ruleset = audience === 'partners' ? 'spectral.yaml' : 'spectral-operators.yaml';
      const rules = ['--ruleset', join(folder, ruleset), '--fail-severity', 'hint'];
      const complaints = await read<SpectralComplaint[]>(
        'spectral',
        'lint',
        file,
        ...rules,
        '--format',
        'json',
        '--quiet',
      );
      return complaints.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`);
    },
  },
];

/** Runs a linter and parses its JSON output. A linter exits with 1 if it has complaints. Throws if it prints no JSON. */
async function read<T>(program: string, ...args: string[]): Promise<T> {
  const command = join(folder, 'node_modules/.bin', program);
  const ended = await run(command, args, { env: environment, timeout: judgeMsMax }).catch((error) => error);
  try {
    return JSON.parse(ended.stdout);
  } catch (cause) {
    throw new Error(`${program} printed no JSON report: ${ended.stdout}${ended.stderr}`, { cause });
  }
}
