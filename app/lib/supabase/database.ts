// Generated from supabase/migrations by `npm run types`. Do not edit.
export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  public: {
    Tables: {
      announcements: {
        Row: {
          ended_at: string | null
          id: string
          started_at: string
          text: string
        }
        Insert: {
          ended_at?: string | null
          id?: string
          started_at?: string
          text: string
        }
        Update: {
          ended_at?: string | null
          id?: string
          started_at?: string
          text?: string
        }
        Relationships: []
      }
      audit_log: {
        Row: {
          account_id: string | null
          action: string
          actor_name: string
          after: Json | null
          before: Json | null
          created_at: string
          document_id: string | null
          id: string
          idempotency_key: string | null
          reason: string | null
          shipment_id: string | null
          staff_id: string | null
        }
        Insert: {
          account_id?: string | null
          action: string
          actor_name: string
          after?: Json | null
          before?: Json | null
          created_at?: string
          document_id?: string | null
          id?: string
          idempotency_key?: string | null
          reason?: string | null
          shipment_id?: string | null
          staff_id?: string | null
        }
        Update: {
          account_id?: string | null
          action?: string
          actor_name?: string
          after?: Json | null
          before?: Json | null
          created_at?: string
          document_id?: string | null
          id?: string
          idempotency_key?: string | null
          reason?: string | null
          shipment_id?: string | null
          staff_id?: string | null
        }
        Relationships: []
      }
      charges: {
        Row: {
          amount: number
          currency: string
          due_on: string | null
          item: string
          note: string | null
          paid_at: string | null
          shipment_id: string
          version: number
        }
        Insert: {
          amount: number
          currency: string
          due_on?: string | null
          item: string
          note?: string | null
          paid_at?: string | null
          shipment_id: string
          version?: number
        }
        Update: {
          amount?: number
          currency?: string
          due_on?: string | null
          item?: string
          note?: string | null
          paid_at?: string | null
          shipment_id?: string
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "charges_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      client_ids: {
        Row: {
          account_id: string | null
          claimed_at: string | null
          client_id: string
          created_at: string
          email_hash: string | null
          has_claimed_email: boolean
          idempotency_key: string | null
          issued_for: string | null
          password_proven_at: string | null
          sent_to: string | null
          used_at: string | null
        }
        Insert: {
          account_id?: string | null
          claimed_at?: string | null
          client_id?: string
          created_at?: string
          email_hash?: string | null
          has_claimed_email?: boolean
          idempotency_key?: string | null
          issued_for?: string | null
          password_proven_at?: string | null
          sent_to?: string | null
          used_at?: string | null
        }
        Update: {
          account_id?: string | null
          claimed_at?: string | null
          client_id?: string
          created_at?: string
          email_hash?: string | null
          has_claimed_email?: boolean
          idempotency_key?: string | null
          issued_for?: string | null
          password_proven_at?: string | null
          sent_to?: string | null
          used_at?: string | null
        }
        Relationships: []
      }
      documents: {
        Row: {
          added_from: string | null
          added_note: string | null
          file_name: string | null
          file_size: number | null
          id: string
          media_type: string | null
          name: string
          rejected_at: string | null
          rejection_reason: string | null
          sha256: string | null
          shipment_id: string
          storage_path: string | null
          storage_version: string | null
          uploaded: boolean
          uploaded_at: string | null
          user_id: string
          verified: boolean
          version: number
        }
        Insert: {
          added_from?: string | null
          added_note?: string | null
          file_name?: string | null
          file_size?: number | null
          id?: string
          media_type?: string | null
          name: string
          rejected_at?: string | null
          rejection_reason?: string | null
          sha256?: string | null
          shipment_id: string
          storage_path?: string | null
          storage_version?: string | null
          uploaded?: boolean
          uploaded_at?: string | null
          user_id: string
          verified?: boolean
          version?: number
        }
        Update: {
          added_from?: string | null
          added_note?: string | null
          file_name?: string | null
          file_size?: number | null
          id?: string
          media_type?: string | null
          name?: string
          rejected_at?: string | null
          rejection_reason?: string | null
          sha256?: string | null
          shipment_id?: string
          storage_path?: string | null
          storage_version?: string | null
          uploaded?: boolean
          uploaded_at?: string | null
          user_id?: string
          verified?: boolean
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "documents_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      email_outbox: {
        Row: {
          account_id: string
          attempt_count: number
          claimed_at: string | null
          created_at: string
          detail: string
          due_at: string
          failed_at: string | null
          id: string
          kind: string
          reason: string | null
          sent_at: string | null
          shipment_id: string
        }
        Insert: {
          account_id: string
          attempt_count?: number
          claimed_at?: string | null
          created_at?: string
          detail: string
          due_at?: string
          failed_at?: string | null
          id?: string
          kind: string
          reason?: string | null
          sent_at?: string | null
          shipment_id: string
        }
        Update: {
          account_id?: string
          attempt_count?: number
          claimed_at?: string | null
          created_at?: string
          detail?: string
          due_at?: string
          failed_at?: string | null
          id?: string
          kind?: string
          reason?: string | null
          sent_at?: string | null
          shipment_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "email_outbox_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      failed_emails: {
        Row: {
          account_id: string | null
          client_id: string | null
          failed_at: string
          id: string
          kind: string
          resolved_at: string | null
          sent_to: string
        }
        Insert: {
          account_id?: string | null
          client_id?: string | null
          failed_at?: string
          id?: string
          kind: string
          resolved_at?: string | null
          sent_to: string
        }
        Update: {
          account_id?: string | null
          client_id?: string | null
          failed_at?: string
          id?: string
          kind?: string
          resolved_at?: string | null
          sent_to?: string
        }
        Relationships: [
          {
            foreignKeyName: "failed_emails_client_id_fkey"
            columns: ["client_id"]
            isOneToOne: false
            referencedRelation: "client_ids"
            referencedColumns: ["client_id"]
          },
        ]
      }
      shipments: {
        Row: {
          arrived_on: string | null
          awb: string | null
          cargo: string | null
          changed_at: string
          client_name: string
          container_numbers: string[]
          created_at: string
          document_count: number
          due_on: string | null
          free_storage_ends_on: string | null
          id: string
          idempotency_key: string
          name: string
          retention_ends_on: string
          search_codes: string | null
          search_words: string | null
          staff_action_at: string
          stage: number
          status: string
          storage_location: string | null
          uploaded_count: number
          user_id: string
          version: number
          waiting_on: string
          waiting_since: string
          withdrawal_reason: string | null
          withdrawn_at: string | null
        }
        Insert: {
          arrived_on?: string | null
          awb?: string | null
          cargo?: string | null
          changed_at?: string
          client_name?: string
          container_numbers?: string[]
          created_at?: string
          document_count?: number
          due_on?: string | null
          free_storage_ends_on?: string | null
          id?: string
          idempotency_key?: string
          name: string
          retention_ends_on?: string
          search_codes?: never
          search_words?: never
          staff_action_at?: string
          stage?: number
          status?: string
          storage_location?: string | null
          uploaded_count?: number
          user_id: string
          version?: number
          waiting_on?: string
          waiting_since?: string
          withdrawal_reason?: string | null
          withdrawn_at?: string | null
        }
        Update: {
          arrived_on?: string | null
          awb?: string | null
          cargo?: string | null
          changed_at?: string
          client_name?: string
          container_numbers?: string[]
          created_at?: string
          document_count?: number
          due_on?: string | null
          free_storage_ends_on?: string | null
          id?: string
          idempotency_key?: string
          name?: string
          retention_ends_on?: string
          search_codes?: never
          search_words?: never
          staff_action_at?: string
          stage?: number
          status?: string
          storage_location?: string | null
          uploaded_count?: number
          user_id?: string
          version?: number
          waiting_on?: string
          waiting_since?: string
          withdrawal_reason?: string | null
          withdrawn_at?: string | null
        }
        Relationships: []
      }
      staff_members: {
        Row: {
          account_id: string
          created_at: string
          name: string
          removed_at: string | null
          role: string
        }
        Insert: {
          account_id: string
          created_at?: string
          name: string
          removed_at?: string | null
          role: string
        }
        Update: {
          account_id?: string
          created_at?: string
          name?: string
          removed_at?: string | null
          role?: string
        }
        Relationships: []
      }
      tracking_events: {
        Row: {
          created_at: string
          id: string
          kind: string
          location: string | null
          note: string | null
          shipment_id: string
          stage: number
          status: string
        }
        Insert: {
          created_at?: string
          id?: string
          kind?: string
          location?: string | null
          note?: string | null
          shipment_id: string
          stage: number
          status: string
        }
        Update: {
          created_at?: string
          id?: string
          kind?: string
          location?: string | null
          note?: string | null
          shipment_id?: string
          stage?: number
          status?: string
        }
        Relationships: [
          {
            foreignKeyName: "tracking_events_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      add_file: {
        Args: {
          actor_name?: string
          added_from: string
          added_note?: string
          document_id: string
          expected_version?: number
          file_name: string
          file_size: number
          idempotency_key?: string
          media_type: string
          sha256: string
          storage_path: string
        }
        Returns: string
      }
      admit_sign_up: {
        Args: { client_id: string; email: string }
        Returns: boolean
      }
      announce: {
        Args: { actor_name?: string; idempotency_key?: string; text: string }
        Returns: undefined
      }
      beyond_retention: { Args: Record<PropertyKey, never>; Returns: Json }
      cancel_email_change: { Args: { account_id: string }; Returns: undefined }
      change_phone: { Args: { phone: string }; Returns: undefined }
      change_shipment: {
        Args: {
          awb: string
          container_numbers: string[]
          expected_version: number
          name: string
          shipment_id: string
        }
        Returns: undefined
      }
      change_shipment_handler: {
        Args: {
          actor_name?: string
          expected_handler?: string
          handler: string
          idempotency_key?: string
          note?: string
          shipment_id: string
        }
        Returns: string
      }
      change_staff_role: {
        Args: { account_id: string; actor_name?: string; role: string }
        Returns: string
      }
      claim_email: {
        Args: { email: Json; idempotency_key: string }
        Returns: boolean
      }
      claim_shipment_emails: { Args: { max_count?: number }; Returns: Json }
      clear_email_hashes: { Args: { email: string }; Returns: undefined }
      close_account: {
        Args: {
          account_id: string
          actor_name?: string
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      consume_rate_limit: {
        Args: { limits: Json; refunded_ids?: string[] }
        Returns: Json
      }
      correct_stage: {
        Args: {
          actor_name?: string
          confirmed?: Json
          despite_due?: boolean
          despite_missing?: boolean
          expected_version?: number
          idempotency_key?: string
          reason: string
          shipment_id: string
          stage: number
        }
        Returns: Json
      }
      count_expired_audit_entries: {
        Args: Record<PropertyKey, never>
        Returns: number
      }
      count_upload_chunk: { Args: { account_id: string }; Returns: undefined }
      create_share_link: {
        Args: { id: string; shipment_id: string; token_hash: string }
        Returns: undefined
      }
      data_export: {
        Args: { before?: string; before_id?: string }
        Returns: Json
      }
      delete_expired_audit_entries: {
        Args: Record<PropertyKey, never>
        Returns: number
      }
      delete_expired_links: {
        Args: Record<PropertyKey, never>
        Returns: number
      }
      delete_orphaned_auth_log: {
        Args: Record<PropertyKey, never>
        Returns: number
      }
      desk_clients: {
        Args: { opened_id?: string; page?: number; q?: string; sort?: string }
        Returns: Json
      }
      desk_document: {
        Args: { document_id: string; shipment_id: string }
        Returns: Json
      }
      desk_invitations: {
        Args: { page?: number; sort?: string }
        Returns: Json
      }
      desk_log: {
        Args: {
          account_id?: string
          action?: string
          actor_name?: string
          before?: string
          before_id?: string
          day?: string
          hide_opened?: boolean
          page?: number
          shipment_prefix?: string
          sort?: string
        }
        Returns: Json
      }
      desk_move_result: { Args: { shipment_ids: string[] }; Returns: Json }
      desk_report: {
        Args: { first_month: string; last_month: string }
        Returns: Json
      }
      desk_shipments: {
        Args: {
          handler?: string
          opened_id?: string
          page?: number
          q?: string
          sort?: string
          stage?: number
          to_check?: boolean
          waiting_on?: string
        }
        Returns: Json
      }
      desk_shipments_export: {
        Args: {
          before?: string
          before_id?: string
          handler?: string
          q?: string
          stage?: number
          to_check?: boolean
          waiting_on?: string
        }
        Returns: Json
      }
      desk_team: { Args: Record<PropertyKey, never>; Returns: Json }
      desk_today: { Args: { handler?: string }; Returns: Json }
      dismiss_failed_email: {
        Args: { actor_name?: string; email_id: string }
        Returns: string
      }
      email_backlog: { Args: Record<PropertyKey, never>; Returns: Json }
      email_change: { Args: { token: string }; Returns: Json }
      extend_shipment_retention: {
        Args: { actor_name?: string; day: string; shipment_id: string }
        Returns: string
      }
      find_account_id: { Args: { email: string }; Returns: string }
      find_repeated_numbers: {
        Args: { account_id: string; new_shipments: Json }
        Returns: Json
      }
      finish_shipment_emails: {
        Args: { email_ids: string[]; sent: boolean }
        Returns: undefined
      }
      get_viewer: { Args: Record<PropertyKey, never>; Returns: Json }
      invite_staff_member: {
        Args: {
          actor_name?: string
          email: string
          idempotency_key?: string
          name: string
          role: string
        }
        Returns: Json
      }
      issue_client_ids: {
        Args: {
          actor_name?: string
          how_many?: number
          idempotency_key?: string
          issued_for?: string
          sent_to?: string
        }
        Returns: {
          account_id: string | null
          claimed_at: string | null
          client_id: string
          created_at: string
          email_hash: string | null
          has_claimed_email: boolean
          idempotency_key: string | null
          issued_for: string | null
          password_proven_at: string | null
          sent_to: string | null
          used_at: string | null
        }[]
        SetofOptions: {
          from: "*"
          to: "client_ids"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      issue_password_link: {
        Args: { account_id: string; valid_hours: number }
        Returns: string
      }
      list_staff_members: {
        Args: Record<PropertyKey, never>
        Returns: {
          account_id: string
          email: string
          has_logged_in: boolean
          name: string
          role: string
        }[]
      }
      list_upload_chunks: {
        Args: { account_id?: string; before?: string }
        Returns: Json
      }
      mark_password_proven: {
        Args: { email: string; token: string }
        Returns: boolean
      }
      move_shipment: {
        Args: {
          actor_name?: string
          confirmed?: Json
          despite_due?: boolean
          despite_missing?: boolean
          expected_version?: number
          idempotency_key?: string
          location?: string
          note?: string
          shipment_id: string
        }
        Returns: Json
      }
      move_shipments: {
        Args: {
          actor_name?: string
          idempotency_key?: string
          location?: string
          moves: Json
        }
        Returns: Json
      }
      open_document: {
        Args: {
          actor_name?: string
          document_id: string
          is_view?: boolean
          shipment_id: string
        }
        Returns: Json
      }
      open_shipments: {
        Args: {
          account_id: string
          actor_name?: string
          despite_repeated?: boolean
          idempotency_key?: string
          new_shipments: Json
        }
        Returns: Json
      }
      password_link: { Args: { token: string }; Returns: Json }
      portal_account: { Args: Record<PropertyKey, never>; Returns: Json }
      portal_file: {
        Args: { document_id: string; shipment_id: string }
        Returns: Json
      }
      portal_page: {
        Args: {
          opened_id?: string
          page?: number
          q?: string
          stage?: number
          waiting_on?: string
        }
        Returns: Json
      }
      portal_shipments_export: {
        Args: {
          before?: string
          before_id?: string
          q?: string
          stage?: number
          waiting_on?: string
        }
        Returns: Json
      }
      read_report: {
        Args: { first_month: string; last_month: string }
        Returns: Json
      }
      record_audit_entry: {
        Args: {
          account_id?: string
          action: string
          actor_name: string
          after?: Json
          before?: Json
          document_id?: string
          reason?: string
          shipment_id?: string
        }
        Returns: undefined
      }
      record_failed_email: {
        Args: {
          account_id?: string
          client_id?: string
          kind: string
          sent_to: string
        }
        Returns: undefined
      }
      record_upload: {
        Args: {
          account_id: string
          document_id: string
          file_name: string
          file_size: number
          media_type: string
          sha256: string
          storage_path: string
        }
        Returns: boolean
      }
      redeem_client_id: {
        Args: { client_id: string; email: string }
        Returns: boolean
      }
      redeem_email_change: { Args: { token: string }; Returns: boolean }
      redeem_password_link: { Args: { token: string }; Returns: boolean }
      refund_rate_limits: {
        Args: { attempt_ids: string[] }
        Returns: undefined
      }
      reject_document: {
        Args: {
          actor_name?: string
          document_id: string
          expected_version?: number
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      reject_erasure: {
        Args: {
          account_id: string
          actor_name?: string
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      release_email: {
        Args: { email: Json; idempotency_key: string }
        Returns: undefined
      }
      remove_added_file: {
        Args: {
          actor_name?: string
          document_id: string
          expected_version?: number
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      remove_announcement: { Args: { actor_name?: string }; Returns: undefined }
      remove_arrival: {
        Args: {
          actor_name?: string
          expected_version?: number
          idempotency_key?: string
          reason: string
          shipment_id: string
        }
        Returns: undefined
      }
      remove_file: {
        Args: { document_id: string; expected_version: number }
        Returns: string
      }
      remove_second_factors: {
        Args: {
          account_id: string
          actor_name?: string
          idempotency_key?: string
          reason?: string
        }
        Returns: string
      }
      remove_staff_member: {
        Args: {
          account_id: string
          actor_name?: string
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      reopen_account: {
        Args: {
          account_id: string
          actor_name?: string
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      request_password_link: {
        Args: {
          account_id: string
          actor_name?: string
          idempotency_key?: string
        }
        Returns: string
      }
      require_upload_allowed: {
        Args: { document_id: string }
        Returns: boolean
      }
      restore_email_change: { Args: { token: string }; Returns: undefined }
      restore_password_link: { Args: { token: string }; Returns: undefined }
      restore_shipment: {
        Args: {
          actor_name?: string
          expected_version?: number
          idempotency_key?: string
          reason: string
          shipment_id: string
        }
        Returns: undefined
      }
      revoke_account_links: { Args: { account_id: string }; Returns: undefined }
      revoke_share_link: { Args: { id: string }; Returns: undefined }
      save_arrival: {
        Args: {
          actor_name?: string
          cargo: string
          day: string
          expected_version?: number
          free_storage_ends_on?: string
          idempotency_key?: string
          shipment_id: string
          storage_location: string
        }
        Returns: undefined
      }
      save_client_phone: {
        Args: {
          account_id: string
          actor_name?: string
          expected_version?: number
          idempotency_key?: string
          phone?: string
        }
        Returns: undefined
      }
      save_shipment_numbers: {
        Args: {
          actor_name?: string
          awb?: string
          container_numbers?: string[]
          expected_version?: number
          idempotency_key?: string
          reason?: string
          shipment_id: string
        }
        Returns: undefined
      }
      send_client_id: {
        Args: {
          actor_name?: string
          client_id: string
          idempotency_key?: string
        }
        Returns: string
      }
      send_note: {
        Args: {
          actor_name?: string
          idempotency_key?: string
          note: string
          shipment_id: string
        }
        Returns: undefined
      }
      set_charge: {
        Args: {
          actor_name?: string
          amount: number
          currency: string
          due_on?: string
          expected_version?: number
          idempotency_key?: string
          item: string
          note?: string
          shipment_id: string
        }
        Returns: undefined
      }
      set_charge_paid: {
        Args: {
          actor_name?: string
          expected_version?: number
          idempotency_key?: string
          item: string
          paid: boolean
          reason?: string
          shipment_id: string
        }
        Returns: undefined
      }
      set_erasure_request: { Args: { requested: boolean }; Returns: undefined }
      set_shipment_emails_enabled: {
        Args: { account_id: string; enabled: boolean }
        Returns: undefined
      }
      shared_shipment: { Args: { token: string }; Returns: Json }
      start_email_change: {
        Args: { account_id: string; email: string }
        Returns: string
      }
      start_erasure: {
        Args: { account_id: string; actor_name?: string; reason: string }
        Returns: string
      }
      unverify_document: {
        Args: {
          actor_name?: string
          document_id: string
          expected_version?: number
          idempotency_key?: string
          reason: string
        }
        Returns: string
      }
      verify_document: {
        Args: {
          actor_name?: string
          document_id: string
          expected_version?: number
          idempotency_key?: string
          sha256: string
          storage_version: string
        }
        Returns: string
      }
      withdraw_client_id: {
        Args: {
          actor_name?: string
          client_id: string
          idempotency_key?: string
          reason: string
        }
        Returns: undefined
      }
      withdraw_own_shipment: {
        Args: { expected_version: number; shipment_id: string }
        Returns: undefined
      }
      withdraw_shipment: {
        Args: {
          actor_name?: string
          confirmed?: Json
          despite_due?: boolean
          expected_version?: number
          idempotency_key?: string
          reason: string
          shipment_id: string
        }
        Returns: Json
      }
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] &
        DefaultSchema["Views"])
    ? (DefaultSchema["Tables"] &
        DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R
      }
      ? R
      : never
    : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I
      }
      ? I
      : never
    : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U
      }
      ? U
      : never
    : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends (DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never) = never,
> = DefaultSchemaEnumNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
    : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends (PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never) = never,
> = PublicCompositeTypeNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
    : never

export const Constants = {
  public: {
    Enums: {},
  },
} as const
