import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';
import { Router, type Express } from 'express';
import { VERSION } from '../../common/version.js';
import { applyApiDecorators } from './api-decorators.js';

interface ApiDocuments {
  /** The OpenAPI document. Anyone can request it, and the library would generate the JSON again for each request. */
  readonly json: Buffer;
  readonly pages: Router;
}

/** Adds to the document what no decorator knows. */
export type DescribeApi = (document: OpenAPIObject) => void;

/**
 * Serves the description of the API: `/api/docs` for people, `/api/openapi.json` for programs. The first request loads the
 * library and builds the document.
 *
 * @param additions are called in order when the document is built.
 */
export function serveOpenApi(app: NestExpressApplication, additions: readonly DescribeApi[] = []): void {
  let documents: Promise<ApiDocuments> | undefined;
  const documentsOnce = (): Promise<ApiDocuments> => (documents ??= createDocuments(app, additions));
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/api/openapi.json', async (_, response) => {
    const { json } = await documentsOnce();
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', json.length);
    response.end(json);
  });
  express.get('/api/docs{/*path}', async (request, response, next) => {
    const { pages } = await documentsOnce();
    pages(request, response, next);
  });
}

async function createDocuments(app: INestApplication, additions: readonly DescribeApi[]): Promise<ApiDocuments> {
  const swagger = await import('@nestjs/swagger');
  applyApiDecorators(swagger);
  const base = new swagger.DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Chat Streaming Service')
    .setDescription('Streams chat completions of AI language models as server-sent events.')
    .setVersion(VERSION)
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'opaque', description: 'An API key.' })
    .build();
  const document = swagger.SwaggerModule.createDocument(app, base);
  for (const describe of additions) describe(document);
  const pages = Router();
  const adapter = new ExpressAdapter(pages);
  // The library adds its routes to an application. The routes of the service are complete by now: see `notFound`.
  const host = {
    getHttpAdapter: () => adapter,
    useStaticAssets: adapter.useStaticAssets.bind(adapter),
  } as unknown as INestApplication;
  swagger.SwaggerModule.setup('api/docs', host, document, {
    raw: [],
    customSiteTitle: 'Chat Streaming Service',
  });
  return { json: Buffer.from(JSON.stringify(document)), pages };
}
