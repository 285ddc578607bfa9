import type { Environment } from '../../config.ts';

/** The addresses of an installation, as its pages tell them to partners. */
export interface Installation {
  readonly environment: Environment;
  readonly baseUrl: string;
  /** The base address of the environment in `otherOf`. Null: partners ask the operator. */
  readonly otherUrl: string | null;
  /** The addresses and networks from which webhooks are sent. Empty: partners ask the operator. */
  readonly webhookSources: readonly string[];
}

/** The environment whose address the pages of an environment show beside their own. */
const otherOf: Readonly<Record<Environment, Environment>> = {
  production: 'staging',
  staging: 'production',
  development: 'staging',
};

/** The sentence of the guide to webhooks that an installation with `webhookSources` replaces. */
const askForSources =
  'If a firewall protects your server, ask the operator for the addresses from which the service sends webhooks.';

/** Writes the addresses of an installation into a document, in place of the words that send the reader to the operator. */
export function tellAddresses(text: string, installation: Installation): string {
  const { environment, baseUrl, otherUrl, webhookSources } = installation;
  const own = tellBase(text, environment, baseUrl);
  const both = otherUrl === null ? own : tellBase(own, otherOf[environment], otherUrl);
  if (webhookSources.length === 0) return both;
  const sources = webhookSources.map((source) => `\`${source}\``).join(', ');
  const told = `If a firewall protects your server, allow these addresses, from which the service sends webhooks: ${sources}.`;
  return both.replace(askForSources, `${told} Verify the signature all the same.`);
}

/** Fills in the base address of an environment in the table of environments. */
function tellBase(text: string, environment: Environment, url: string): string {
  const cell = new RegExp(`^(\\| ${environment} \\| )[^|]*(?= \\|)`, 'im');
  return text.replace(cell, (_, start: string) => `${start}\`${url}\``);
}
