import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Router, type Express } from 'express';
import { WholeBody } from '../answers/whole-body.js';
import { ExtensionPoint } from '../../common/extensions/extensions.js';
import { VERSION } from '../../common/version.js';
import { applyApiDecorators, OPERATOR_SECURITY } from './api-decorators.js';
import { describeControllers } from './describe-controllers.js';
import { docsFiles, docsPage } from './docs-page.js';
import { pathOutsideApi } from '../surface/surface.decorator.js';

/** The groups of operations in the order of the page. Groups of plugins follow. */
const TAGS = ['Chat', 'Models', 'Usage', 'API keys', 'Compatible interfaces', 'Health', 'Operators'] as const;

const OPAQUE_TOKEN = { type: 'http', scheme: 'bearer', bearerFormat: 'opaque' } as const;

interface ApiDocuments {
  /** The OpenAPI document. Anyone can request it, and the library would generate the JSON again for each request. */
  readonly json: WholeBody;
  readonly pages: Router;
}

/**
 * Adds to the document what no decorator knows.
 *
 * @param model the id of a model of this service, for examples. `undefined`: it has none now.
 */
export type DescribeApi = (document: OpenAPIObject, model: string | undefined) => void | Promise<void>;

/** The descriptions of plugins. */
export const API_DESCRIPTIONS = new ExtensionPoint<DescribeApi>('openApi');

type Addition = (document: OpenAPIObject) => void | Promise<void>;

/**
 * Serves the description of the API: `/api/docs` for people, `/api/openapi.json` for programs. The first request loads the
 * library and builds the document.
 *
 * @param additions are called in order when the document is built.
 */
export function serveOpenApi(app: NestExpressApplication, additions: readonly Addition[] = []): void {
  let documents: Promise<ApiDocuments> | undefined;
  const documentsOnce = (): Promise<ApiDocuments> => (documents ??= createDocuments(app, additions));
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/api/openapi.json', async (_, response) => {
    const { json } = await documentsOnce();
    json.send(response, 200, { 'Content-Type': 'application/json; charset=utf-8' });
  });
  express.get('/api/docs{/*path}', async (request, response, next) => {
    const { pages } = await documentsOnce();
    pages(request, response, next);
  });
}

async function createDocuments(app: INestApplication, additions: readonly Addition[]): Promise<ApiDocuments> {
  const swagger = await import('@nestjs/swagger');
  applyApiDecorators(swagger);
  describeControllers(swagger, app.get(ModulesContainer));
  const base = new swagger.DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Chat Streaming Service')
    .setDescription('Streams chat completions of AI language models as server-sent events.')
    .setVersion(VERSION)
    .addBearerAuth({ ...OPAQUE_TOKEN, description: 'An API key.' })
    .addBearerAuth({ ...OPAQUE_TOKEN, description: 'An operator key, which begins with `csk_op_`.' }, OPERATOR_SECURITY)
    .build();
  const document = swagger.SwaggerModule.createDocument(app, base);
  document.paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) => [pathOutsideApi(path), operations]),
  );
  for (const describe of additions) await describe(document);
  document.tags = TAGS.map((name) => ({ name }));
  const pages = Router();
  pages.get(['/api/docs', '/api/docs/index.html'], (request, response) => {
    // The files of the page have paths relative to the page.
    if (request.path !== '/api/docs') {
      response.redirect('/api/docs');
      return;
    }
    return response.type('html').send(docsPage(document, request));
  });
  const files = docsFiles();
  pages.get('/api/docs/:file', (request, response, next) => {
    const found = files.get(request.params.file);
    if (found === undefined) next();
    else found.body.send(response, 200, { 'Content-Type': found.type });
  });
  return { json: new WholeBody(Buffer.from(JSON.stringify(document))), pages };
}
