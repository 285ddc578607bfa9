import { parse } from 'node:querystring';
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { AppError } from '../../errors.ts';
import { isInt64, parseCanonicalInt64 } from '../../int64.ts';
import { describeRule } from '../../violations.ts';
import type { Route } from '../route.ts';
import { refuseUnknown } from './preferences.ts';

const plainDecimal = /^(?:0|[1-9]\d{0,14})$/;
const none = {};

/**
 * Returns a reader of query parameters. It throws `invalid_parameter`. Each is given at most once, but a list that
 * `repeats` may be given several times.
 */
export function compileQuery(schema?: TObject): Route['readQuery'] {
  const properties = schema?.properties ?? {};
  const names = Object.keys(properties);
  const parameters = Object.entries<TSchema>(properties).map(([name, property]) => ({
    name,
    repeats: 'repeats' in property,
    ...compileParameter(property),
  }));

  return (text, isStrict) => {
    if (text === '') return none;
    const given = parse(text, '&', '=', { maxKeys: 0 });
    if (isStrict) refuseUnknown('invalid_parameter', given, names);
    const query: Record<string, unknown> = {};
    const problems: string[] = [];
    for (const { name, repeats, read, accepts, rule } of parameters) {
      const all = given[name];
      if (all === undefined) continue;
      const value = Array.isArray(all) && repeats ? all.join() : all;
      if (Array.isArray(value)) problems.push(`${name} must be given once`);
      else {
        query[name] = read(value);
        if (!accepts(query[name])) problems.push(`${name} ${rule}`);
      }
    }
    if (problems.length > 0) throw new AppError('invalid_parameter', problems.join('; '));
    return query;
  };
}

interface ParameterReader {
  readonly read: (text: string) => unknown;
  readonly accepts: (value: unknown) => boolean;
  readonly rule: string;
}

function compileParameter(schema: TSchema): ParameterReader {
  const { type, format } = schema as { readonly type?: unknown; readonly format?: unknown };
  const rule = describeRule(schema);
  if (format === 'int64')
    return { read: parseCanonicalInt64, accepts: isInt64, rule: `${rule}, without leading zeros` };
  if ('items' in schema) return compileList(schema, rule);
  const check = Compile(schema);
  return {
    read: (text: string) => (type === 'integer' && plainDecimal.test(text) ? Number(text) : text),
    accepts: (value: unknown) => check.Check(value),
    rule,
  };
}

/** Commas separate the values of a list. */
function compileList(schema: TSchema, rule: string): ParameterReader {
  const { minItems, maxItems, items } = schema as unknown as Record<'minItems' | 'maxItems', number> & {
    readonly items: TSchema;
  };
  const { read, accepts } = compileParameter(items);
  return {
    read: (text) => text.split(',').map(read),
    accepts: (value) =>
      Array.isArray(value) && value.length >= minItems && value.length <= maxItems && value.every(accepts),
    rule,
  };
}
