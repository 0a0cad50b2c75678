"""The plainest worker there is, to compare with: `python -m benchmarks.bare_worker JOB`, the job as JSON.

Receives from SQS, claims a row, calls the two providers, completes the row, deletes the message. No artifacts, no
stages, no history, no lease that is renewed, no retry. Ends when all rows are completed.
"""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import boto3
import httpx2 as httpx
from botocore.config import Config
from psycopg_pool import AsyncConnectionPool

from benchmarks.simulated_tools import EXTRACT_PATH, TRANSCRIBE_PATH, post, provider_client
from orcha_dagster.stack.queue_server import CREDENTIALS

CREATE_TABLE = """
CREATE TABLE bare_job (id uuid PRIMARY KEY, status text NOT NULL DEFAULT 'new', result jsonb, completed_at timestamptz)
"""
READY = "ready"
_CLAIM = "UPDATE bare_job SET status = 'claimed' WHERE id = %s AND status = 'new' RETURNING id"
_COMPLETE = "UPDATE bare_job SET status = 'completed', result = %s, completed_at = now() WHERE id = %s"
_RECEIVE_AT_ONCE = 10  # SQS gives no more
_THREADS = 8


class BareJob(NamedTuple):
    database_url: str
    queue_url: str
    provider_url: str
    concurrency: int
    messages: int


class BareWorker:
    def __init__(self, job: BareJob, pool: AsyncConnectionPool, client: httpx.AsyncClient) -> None:
        self._job = job
        self._pool = pool
        self._client = client
        endpoint = job.queue_url.rsplit("/", 2)[0]
        config = Config(proxies={}, max_pool_connections=_THREADS)
        self._sqs: Any = boto3.client("sqs", endpoint_url=endpoint, config=config, **CREDENTIALS)
        self._threads = ThreadPoolExecutor(_THREADS)
        self._room = asyncio.Semaphore(job.concurrency)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            taken = 0
            while taken < self._job.messages:
                await self._room.acquire()
                self._room.release()
                for message in await self._receive():
                    taken += 1
                    await self._room.acquire()
                    tasks.create_task(self._carry(message))

    async def _receive(self) -> list[dict[str, str]]:
        answer = await self._in_thread(
            self._sqs.receive_message, MaxNumberOfMessages=_RECEIVE_AT_ONCE, WaitTimeSeconds=1, VisibilityTimeout=300
        )
        messages: list[dict[str, str]] = answer.get("Messages", [])
        return messages

    async def _carry(self, message: dict[str, str]) -> None:
        try:
            ingestion = message["Body"]
            async with self._pool.connection() as connection:
                claimed = await (await connection.execute(_CLAIM, [ingestion])).fetchone()
            if claimed is None:
                raise RuntimeError(f"{ingestion} was claimed already.")
            await post(self._client, TRANSCRIBE_PATH, ingestion.encode())
            await post(self._client, EXTRACT_PATH, ingestion.encode())
            async with self._pool.connection() as connection:
                await connection.execute(_COMPLETE, ['{"gross": "10.00"}', ingestion])
            await self._in_thread(self._sqs.delete_message, ReceiptHandle=message["ReceiptHandle"])
        finally:
            self._room.release()

    async def _in_thread(self, call: Any, **arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: call(QueueUrl=self._job.queue_url, **arguments))


async def work(job: BareJob) -> None:
    async with (
        AsyncConnectionPool(job.database_url, min_size=8, max_size=8) as pool,
        provider_client(job.provider_url) as client,
    ):
        worker = BareWorker(job, pool, client)
        print(READY, flush=True)  # noqa: T201  (whoever started it waits for this)
        await worker.run()


if __name__ == "__main__":
    asyncio.run(work(BareJob(**json.loads(sys.argv[1]))))
