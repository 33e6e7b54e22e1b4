import { Inject } from '@nestjs/common';
import { ServiceError } from '../../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../../plugin-api/core/config.js';
import { type ProbeResult, RouteProbe, RouteStates } from '../../../../plugin-api/core/upstreams.js';
import { seconds } from '../../format/times.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { Outcome, resultPage } from '../../parts/action-pages.js';
import { pathWith, textIn, type QueryValues } from '../../parts/query.js';
import { STATUS_PATH } from '../../paths.js';
import { OperatorActions } from '../operator-actions.js';
import { OperatorOnly } from '../operator-only.decorator.js';

const MAX_LENGTH = 255;

/** What an operator does with routes and circuits. Each action is in the audit log before it happens. */
@PageController(STATUS_PATH)
@OperatorOnly()
export class RoutesController {
  constructor(
    private readonly pages: Pages,
    private readonly probe: RouteProbe,
    private readonly states: RouteStates,
    private readonly actions: OperatorActions,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Tries one route now, and answers with a page that has the result. */
  @PostForm('probe')
  async probeRoute(@CurrentPageRequest() request: PageRequest): Promise<void> {
    const { accountId, query, response } = request;
    const { upstream, model } = namesIn(query);
    const found = this.config.models.find(({ routes }) => routes.some(isWanted));
    const route = found?.routes.find(isWanted);
    if (found === undefined || route === undefined) throw notThere();
    const { requestId } = response.req.context;
    const entry = ['route.probed', `route:${upstream} ${route.model}`] as const;
    await this.actions.record(request, entry, 'A route was probed', { upstream, model: route.model });
    const result = await this.probe.run(found, route, requestId, accountId);
    const page = resultPage({
      ...{ title: 'Probe', section: 'status', accountId },
      from: { path: STATUS_PATH, name: 'Status' },
      facts: [
        ['Upstream', upstream],
        ['Model', <code>{route.model}</code>],
        ['Result', <Result result={result} />],
        ['Request ID', <code>{requestId}</code>],
      ],
      action: pathWith(`${STATUS_PATH}/probe`, { upstream, model }),
      button: 'Probe again',
      note: 'The log has the attempt by its request ID. It is no usage of an account.',
    });
    this.pages.send(response, page);

    function isWanted(each: Config['models'][number]['routes'][number]): boolean {
      return each.upstream.name === upstream && each.model === model;
    }
  }

  @PostForm('close')
  async close(@CurrentPageRequest() request: PageRequest): Promise<void> {
    const { upstream, model } = namesIn(request.query);
    if (!this.config.upstreams.has(upstream)) throw notThere();
    const target = model === undefined ? `upstream:${upstream}` : `route:${upstream} ${model}`;
    await this.actions.record(request, ['circuit.closed', target], 'A circuit was closed', { upstream, model });
    this.states.close(upstream, model);
    this.pages.redirect(request.response, `${STATUS_PATH}?done=closed`);
  }
}

function namesIn({ upstream, model }: QueryValues) {
  const name = textIn(upstream, MAX_LENGTH);
  if (name === undefined) throw notThere();
  return { upstream: name, model: textIn(model, MAX_LENGTH) };
}

function notThere(): ServiceError {
  return new ServiceError('not_found', 'The configuration has no such route.');
}

function Result({ result }: { readonly result: ProbeResult }) {
  switch (result.type) {
    case 'answered':
      return <Outcome isGood label="Answered" text={`after ${seconds(result.firstTextMs)}`} />;
    case 'failed':
      return <Outcome label="Failed" text={`after ${seconds(result.durationMs)}: ${result.failure}`} />;
    case 'waiting':
      return <Outcome label="No text" text={`in ${seconds(result.durationMs)}`} />;
  }
}
