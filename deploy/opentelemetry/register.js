// Sends a trace of each request to an OpenTelemetry collector: node --import ./register.js …
// docs/operations/tracing.md explains it.
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come before the default name.
const resource = defaultResource()
  .merge(resourceFromAttributes({ 'service.name': 'animal-store' }))
  .merge(detectResources({ detectors: [envDetector] }));

const provider = new NodeTracerProvider({
  resource,
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

const spans = new WeakMap();
const instrumentation = new HttpInstrumentation({ requestHook: (span, request) => spans.set(request, span) });
instrumentation.setTracerProvider(provider);
// The instrumentation changes node:http when it is required the next time.
createRequire(import.meta.url)('http');

// The service publishes the route of each request here. Without it, all spans would have the name of the method.
subscribe('animal-store.route', ({ request, route }) => {
  spans.get(request)?.setAttribute('http.route', route).updateName(`${request.method} ${route}`);
});

process.once('beforeExit', () => provider.shutdown());
