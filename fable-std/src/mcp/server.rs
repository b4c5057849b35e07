//! The protocol itself, by the official crate: tools over a pair of streams.

use super::backend::Backend;
use super::session::{Fault, Session, Told};
use super::tools::{TOOLS, Tool, ToolKind};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as ListedTool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, serve_server};
use std::fmt;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

const INSTRUCTIONS: &str = "\
Fable learns how one person wants to be helped. Before answering a request of theirs call `decide` and follow its instruction; when they have \
reacted, tell it with `feedback`. What they say about their preferences goes to `preferences`. `profile` and `why` tell what is known and why.";

/// Why a server ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum McpError {
    /// It could not be started.
    Start(std::io::Error),
    /// Whoever is there did not introduce themselves as a client does.
    Introduction,
    /// A fault inside.
    Fault(String),
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "the server cannot be started: {error}"),
            Self::Introduction => f.write_str("whoever is there does not speak the Model Context Protocol"),
            Self::Fault(reason) => write!(f, "the server has failed: {reason}"),
        }
    }
}

impl std::error::Error for McpError {}

/// Serves the tools of a session on standard input and output, until the input ends.
///
/// # Errors
/// Whoever is there does not speak the protocol.
pub fn serve<B: Backend + 'static>(session: Session<B>) -> Result<(), McpError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(McpError::Start)?;
    let done = runtime.block_on(async { serve_over(session, tokio::io::stdin(), tokio::io::stdout()).await });
    // Whoever waits for standard input does not listen to anything else.
    runtime.shutdown_background();
    done
}

/// Serves the tools of a session over any pair of streams, until the input ends.
///
/// # Errors
/// Whoever is there does not speak the protocol.
pub async fn serve_over<B: Backend + 'static>(
    session: Session<B>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), McpError> {
    match serve_server(Server(Arc::new(session)), (input, output)).await {
        Ok(running) => {
            running.waiting().await.map(|_| ()).map_err(|error| McpError::Fault(error.to_string()))
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()), // it ended before it began
        Err(_) => Err(McpError::Introduction),                     // its reason has what was said in it
    }
}

struct Server<B>(Arc<Session<B>>);

fn listed(tool: &Tool) -> ListedTool {
    let hints = ToolAnnotations::with_title(tool.title)
        .read_only(tool.kind == ToolKind::Reads)
        .destructive(tool.kind == ToolKind::Erases)
        .idempotent(tool.kind != ToolKind::Adds)
        .open_world(false);
    ListedTool::new(tool.name, tool.description, Arc::new(tool.schema()))
        .with_title(tool.title)
        .with_annotations(hints)
}

impl<B: Backend + 'static> ServerHandler for Server<B> {
    fn get_info(&self) -> ServerConfig {
        let own = Implementation::new("fable", env!("CARGO_PKG_VERSION")).with_title("Fable");
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(listed).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<ListedTool> {
        Tool::named(name).map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = Arc::clone(&self.0);
        let work = move || session.call(&request.name, &request.arguments.unwrap_or_default());
        let done = tokio::task::spawn_blocking(work).await;
        let result = match done.map_err(|_| ErrorData::internal_error("a fault inside fable", None))? {
            Ok(Told { text, data }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(data);
                result
            }
            Err(Fault::Tool) => return Err(ErrorData::invalid_params("there is no such tool", None)),
            // What a model can mend it is told as a result.
            Err(fault) => {
                let code =
                    if let Fault::Refused(refused) = &fault { refused.code.as_str() } else { "bad_request" };
                CallToolResult::error(vec![ContentBlock::text(format!("{fault} ({code})"))])
            }
        };
        Ok(result.into())
    }
}
